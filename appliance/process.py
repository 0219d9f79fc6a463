"""The process: every table of the command line, their pages, and an end that is always in order."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
from collections.abc import Coroutine, Sequence
from typing import Any

from appliance.clock import SystemClock
from appliance.config import Mqtt, Settings
from appliance.daemon import TableDaemon
from appliance.journal import JournalError
from appliance.notify import Pulse, ServiceManager
from appliance.sole import TableName
from appliance.web.server import WebServer, WebServerError

_log = logging.getLogger(__name__)


def page_address(host: str, port: int, own_name: str) -> str:
    """Where others find a page that listens on `host`: one that listens everywhere, by this machine's own name."""
    if host in ("0.0.0.0", "::"):
        # The name that a machine without a domain has in its own network.
        host = own_name if "." in own_name else f"{own_name}.local"
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


async def _serve_pages(daemons: Sequence[TableDaemon]) -> list[WebServer]:
    """One server for each address; tables that share one (and its broker) share its pages."""
    groups: dict[tuple[str, int, Mqtt], list[TableDaemon]] = {}
    for daemon in daemons:
        settings = daemon.settings
        if settings.web is not None:
            groups.setdefault((settings.web.host, settings.web.port, settings.mqtt), []).append(daemon)
    servers: list[WebServer] = []
    for (host, port, broker), group in groups.items():
        ids = [daemon.settings.table.id for daemon in group]
        server = WebServer(host, port, broker, ids)
        try:
            bound = await server.start()
        except WebServerError as error:
            _log.error("%s", error)
            continue
        servers.append(server)
        _log.info("pages for %s at http://%s:%d/", ", ".join(ids), host, bound)
        address = page_address(host, bound, socket.gethostname())
        for daemon, table in zip(group, ids, strict=True):
            daemon.show_page(address if len(ids) == 1 else f"{address}?table={table}")
    return servers


async def _run(tables: Sequence[Settings], manager: ServiceManager) -> int:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    clock = SystemClock()
    names: list[TableName] = []
    daemons: list[TableDaemon] = []
    servers: list[WebServer] = []
    pulse = Pulse(manager, daemons, clock.monotonic_ns)
    status = 0
    try:
        for settings in tables:
            names.append(TableName(settings))
            names[-1].acquire()
            daemon = TableDaemon(settings, clock)
            await daemon.start()
            daemons.append(daemon)
            _log.info("table %s is ready", settings.table.id)
        servers = await _serve_pages(daemons)
        await _first_of(stopping.wait(), *(daemon.shown.wait() for daemon in daemons))
        if not stopping.is_set():
            pulse.ready()
        await stopping.wait()
        _log.info("stopping")
    except JournalError as error:
        _log.error("%s", error)
        status = 1
    finally:
        pulse.stop()
        for server in servers:
            await server.stop()
        outcomes = await asyncio.gather(*(daemon.stop() for daemon in daemons), return_exceptions=True)
        for name in names:
            name.release()
    for outcome in outcomes:
        if isinstance(outcome, JournalError):
            _log.error("%s", outcome)
            status = 1
        elif isinstance(outcome, BaseException):
            raise outcome
    return status


async def _first_of(end: Coroutine[Any, Any, Any], *rest: Coroutine[Any, Any, Any]) -> None:
    """Wait for all of the rest, or for the end alone."""
    ending = asyncio.ensure_future(end)
    waiting = asyncio.gather(*rest)
    await asyncio.wait((ending, waiting), return_when=asyncio.FIRST_COMPLETED)
    for future in (ending, waiting):
        future.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await future


def run(tables: Sequence[Settings]) -> int:
    """Run the tables until a signal; the exit status."""
    manager = ServiceManager.from_environment(os.environ, os.getpid())
    return asyncio.run(_run(tables, manager))
