from collections.abc import Iterator

import pytest

from tests.firmware.bench import SECOND_US, Bench
from tests.firmware.board import EmulatedBoard
from tests.firmware.programs import Programs, build


@pytest.fixture(scope="session")
def programs() -> Programs:
    return build()


@pytest.fixture
def board(programs: Programs) -> Iterator[EmulatedBoard]:
    """The firmware just powered on."""
    board = EmulatedBoard(programs.emulator, programs.elf)
    yield board
    board.close()


@pytest.fixture
def bench(board: EmulatedBoard) -> Bench:
    """The firmware and a host that have been connected for a second."""
    bench = Bench(board).plug()
    bench.run(SECOND_US)
    assert bench.session.hello is not None
    return bench
