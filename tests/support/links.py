"""What a table's link to its broker told its table."""

from dataclasses import dataclass, field

from appliance.mqtt.client import MqttLink


@dataclass
class LinkedTable:
    """A link, what was asked of its table, and what it said about its connection."""

    link: MqttLink
    requests: list[tuple[bytes, bool]] = field(default_factory=list)
    news: list[tuple[bool, str]] = field(default_factory=list)

    @property
    def connected(self) -> bool:
        """Whether it is, by what it said last."""
        return bool(self.news) and self.news[-1][0]
