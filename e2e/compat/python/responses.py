"""The responses journey with the official Python SDK, unmodified, and the rehearsal model of `npm run dev`.

Not part of CI, which has no Python packages. How to run it is in docs/proofs/compat.md.
"""

import json
import sys
import time

import openai
from pydantic import BaseModel

from checks import expect, refused, report

MODEL = "rehearsal"
ENDED = ("completed", "failed", "incomplete", "cancelled")
WAIT_BOUND_S = 30
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "strict": True,
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
}


class Capital(BaseModel):
    country: str
    capital: str


def create(client):
    made = client.responses.create(model=MODEL, input="Say hello.", metadata={"from": "python"})
    expect("a response comes back whole", made.status == "completed" and made.output_text.startswith("Hello."))
    expect("it names the snapshot", made.model.startswith("rehearsal-20"))
    again = client.responses.retrieve(made.id)
    expect("it can be retrieved", again.output_text == made.output_text and again.metadata == {"from": "python"})
    items = list(client.responses.input_items.list(made.id))
    expect("its input can be listed", [item.content[0].text for item in items] == ["Say hello."])
    counted = client.responses.input_tokens.count(model=MODEL, input="Say hello.")
    expect("its tokens can be counted", counted.input_tokens > 0)
    client.responses.delete(made.id)
    expect("a deleted one is gone", refused(lambda: client.responses.retrieve(made.id), openai.NotFoundError))


def stream(client):
    with client.responses.stream(model=MODEL, input="Think about 17 times 23.") as events:
        kinds = [event.type for event in events]
        final = events.get_final_response()
    expect("a stream begins with its creation", kinds[0] == "response.created")
    expect("and ends completed", kinds[-1] == "response.completed" and final.output_text == "17 times 23 is 391.")
    expect("its reasoning is an item", [item.type for item in final.output] == ["reasoning", "message"])
    raw = client.responses.create(model=MODEL, input="Say hello.", stream=True)
    numbers = [event.sequence_number for event in raw]
    expect("events are numbered without a gap", numbers == list(range(len(numbers))))


def tools(client):
    asked = client.responses.create(model=MODEL, input="What is the weather?", tools=[WEATHER])
    call = asked.output[0]
    expect("a function is called", call.type == "function_call" and json.loads(call.arguments) == {"city": "Paris"})
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "18 degrees"}
    after = client.responses.create(model=MODEL, previous_response_id=asked.id, input=[output], tools=[WEATHER])
    expect("and its result is used", after.output_text == "It is mild and sunny in Paris.")
    shell = {"type": "shell", "environment": {"type": "local"}}
    listed = client.responses.create(model=MODEL, input="List the files.", tools=[shell])
    expect("a local shell is asked", listed.output[0].action.commands == ["ls", "echo done"])
    parsed = client.responses.parse(model=MODEL, input="What is the capital of France?", text_format=Capital)
    expect("structured output is parsed", parsed.output_parsed == Capital(country="France", capital="Paris"))


def wait(client, id):
    until = time.monotonic() + WAIT_BOUND_S
    while (response := client.responses.retrieve(id)).status not in ENDED and time.monotonic() < until:
        time.sleep(0.1)
    return response


def background(client):
    queued = client.responses.create(model=MODEL, input="Say hello.", background=True)
    expect("a background response is queued at once", queued.status == "queued" and queued.output == [])
    expect("and ends by itself", wait(client, queued.id).output_text.startswith("Hello."))
    whole = list(client.responses.retrieve(queued.id, stream=True))
    expect("its stream can be read afterwards", whole[-1].type == "response.completed")
    rest = list(client.responses.retrieve(queued.id, stream=True, starting_after=3))
    expect("from any event on", rest == whole[4:])
    live = client.responses.create(model=MODEL, input="A long answer.", background=True, stream=True)
    seen = []
    for event in live:
        seen.append(event)
        if event.type == "response.output_text.delta" and len(seen) > 8:
            break
    live.close()
    id, last = seen[0].response.id, seen[-1].sequence_number
    resumed = client.responses.retrieve(id, stream=True, starting_after=last)
    numbers = [next(resumed).sequence_number for _ in range(5)]
    expect("a stream that was left goes on where it was left", numbers == list(range(last + 1, last + 6)))
    resumed.close()
    client.responses.cancel(id)
    expect("a background response can be cancelled", wait(client, id).status == "cancelled")


def state(client):
    talk = client.conversations.create(items=[{"type": "message", "role": "user", "content": "I am Alice."}])
    client.responses.create(model=MODEL, input="Say hello.", conversation=talk.id)
    items = list(client.conversations.items.list(talk.id, order="asc"))
    expect("a conversation keeps what was said", [item.role for item in items] == ["user", "user", "assistant"])
    client.conversations.delete(talk.id)
    compacted = client.responses.compact(model=MODEL, input="Say hello.")
    expect("a context can be compacted", compacted.output[-1].type == "compaction")


def errors(client):
    once = client.with_options(max_retries=0)
    ask = lambda text, **more: (lambda: once.responses.create(**{"model": MODEL, "input": text, **more}))
    expect("a provider that fails is a server error", refused(ask("provider error"), openai.InternalServerError))
    expect("one that is asked too often is a 429", refused(ask("too many requests"), openai.RateLimitError))
    unknown = ask("x", model="nobody")
    expect("a model that is not there is named", refused(unknown, openai.NotFoundError, code="model_not_found"))
    odd = ask("x", extra_body={"nonsense": 1})
    expect("a field that is not known is refused", refused(odd, openai.BadRequestError, param="nonsense"))


def main():
    client = openai.OpenAI()
    for journey in (create, stream, tools, background, state, errors):
        journey(client)
    return report()


if __name__ == "__main__":
    sys.exit(main())
