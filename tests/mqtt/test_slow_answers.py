"""A table that needs long for what it is asked answers in order, and does each thing once."""

import json

from tests.support.ring1 import Table, play

MANY = 50


def test_what_was_asked_while_the_disk_hung_is_answered_in_order_once_it_is_safe() -> None:
    async def main() -> None:
        async with Table() as table:
            before = table.state["seq"]
            table.disk.stall()
            for number in range(MANY):
                table.say(json.dumps({"command": "stroke", "pocketed": [], "transaction": str(number)}))
            # and again, by somebody who thinks that it was not heard
            for number in range(MANY):
                table.say(json.dumps({"command": "stroke", "pocketed": [], "transaction": str(number)}))
            await table.run_for(5)
            assert table.told("response") == []
            table.disk.go_on()
            await table.until(lambda: len(table.told("response")) == 2 * MANY)
            answers = table.told("response")
            assert [answer["transaction"] for answer in answers] == [str(number) for number in range(MANY)] * 2
            assert all(answer["ok"] for answer in answers)
            assert [answer["seq"] for answer in answers[:MANY]] == list(range(before + 1, before + MANY + 1))
            assert table.state["seq"] == before + MANY, "each was done once"

    play(main())
