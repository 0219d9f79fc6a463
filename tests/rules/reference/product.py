"""The product's rules, played as the reference is played, so that the answers can be laid side by side."""

from typing import Any

from appliance import rules


def play(game: str, setup: dict[str, Any], observations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The start answer and one answer for each observation: the state and, where refused, the code."""
    state = rules.start(rules.parse_setup(game, setup))
    before: list[Any] = []
    answers: list[dict[str, Any]] = [{"state": rules.document(state)}]
    for observation in observations:
        refused = None
        parsed = rules.parse_observation(game, observation)
        if isinstance(parsed, rules.Undo):
            if before:
                state = before.pop()
            else:
                refused = "nothing_to_undo"
        else:
            outcome = rules.apply(state, parsed)
            if isinstance(outcome, rules.Refusal):
                refused = outcome.code
            else:
                before.append(state)
                state = outcome[0]
        answer: dict[str, Any] = {"state": rules.document(state)}
        if refused is not None:
            answer["refused"] = {"code": refused}
        answers.append(answer)
    return answers
