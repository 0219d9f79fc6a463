"""Every command, family by family, in the order in which help lists them."""

from appliance.cli import journals, judging, machine, over_mqtt, simulation, tables

COMMANDS = (
    *simulation.COMMANDS,
    *tables.COMMANDS,
    *over_mqtt.COMMANDS,
    *journals.COMMANDS,
    *judging.COMMANDS,
    *machine.COMMANDS,
)
