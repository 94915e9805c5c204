"""The evals journey with the official Python SDK, unmodified, and the rehearsal model of `npm run dev`.

Not part of CI, which has no Python packages. How to run it is in docs/proofs/compat.md.
"""

import json
import pathlib
import sys
import time

import openai

from checks import expect, refused, report

MODEL = "rehearsal"
ENDED = ("completed", "failed", "canceled")
WAIT_BOUND_S = 60
TICKETS = pathlib.Path(__file__).parents[3] / "docs/examples/evals/tickets/tickets.jsonl"
CONFIG = {
    "type": "custom",
    "item_schema": {
        "type": "object",
        "properties": {"ticket_text": {"type": "string"}, "correct_label": {"type": "string"}},
        "required": ["ticket_text", "correct_label"],
    },
    "include_sample_schema": True,
}
MATCH = {
    "type": "string_check",
    "name": "Match output to human label",
    "input": "{{ sample.output_text }}",
    "operation": "eq",
    "reference": "{{ item.correct_label }}",
}


def source(file_id, words="Ticket: {{ item.ticket_text }}"):
    return {
        "type": "responses",
        "model": MODEL,
        "input_messages": {
            "type": "template",
            "template": [
                {"role": "developer", "content": "Answer with one word: Hardware, Software, or Other."},
                {"role": "user", "content": words},
            ],
        },
        "source": {"type": "file_id", "id": file_id},
    }


def wait(client, run):
    until = time.monotonic() + WAIT_BOUND_S
    while (now := client.evals.runs.retrieve(run.id, eval_id=run.eval_id)).status not in ENDED and time.monotonic() < until:
        time.sleep(0.2)
    return now


def evals(client):
    made = client.evals.create(name="Python", data_source_config=CONFIG, testing_criteria=[MATCH], metadata={"from": "python"})
    expect("an eval comes back with its id", made.id.startswith("eval_") and made.object == "eval")
    expect("its criterion has an id", made.testing_criteria[0].to_dict()["id"].startswith(MATCH["name"]))
    expect("it can be retrieved", client.evals.retrieve(made.id).to_dict() == made.to_dict())
    renamed = client.evals.update(made.id, name="Tickets", metadata={})
    expect("it can be renamed", renamed.name == "Tickets" and renamed.metadata == {})
    listed = [one.id for one in client.evals.list(limit=1, order_by="created_at")]
    expect("the list pages by itself", made.id in listed and len(listed) == len(set(listed)))
    return made


def runs(client, made):
    with TICKETS.open("rb") as content:
        file = client.files.create(file=content, purpose="evals")
    run = client.evals.runs.create(made.id, name="first", data_source=source(file.id), metadata={"n": "1"})
    expect("a run is queued at once", run.status == "queued" and run.id.startswith("evalrun_"))
    expect("what is not known yet is null", run.error is None and run.per_model_usage is None)
    message = run.data_source.input_messages.template[0]
    expect("its messages come back in one form", message.content.text.startswith("Answer") and message.type == "message")
    done = wait(client, run)
    counts = done.result_counts
    expect("it completes", done.status == "completed")
    expect("its counts add up", (counts.total, counts.passed, counts.failed, counts.errored) == (12, 11, 1, 0))
    [usage], [result] = done.per_model_usage, done.per_testing_criteria_results
    expect("usage is told per model", usage.invocation_count == 12 and usage.total_tokens > 0)
    expect("results are told per criterion", (result.passed, result.failed) == (11, 1))
    expect("the report has an address", made.id in done.report_url and run.id in done.report_url)
    rows = list(client.evals.runs.output_items.list(run.id, eval_id=made.id, limit=5))
    expect("rows are paged in their order", [row.datasource_item_id for row in rows] == list(range(12)))
    [failed] = client.evals.runs.output_items.list(run.id, eval_id=made.id, status="fail")
    expect("rows that failed can be asked for", failed.status == "fail" and failed.sample.output[0].content == "Hardware")
    one = client.evals.runs.output_items.retrieve(failed.id, eval_id=made.id, run_id=run.id)
    expect("a row can be retrieved", one.to_dict() == failed.to_dict() and one.results[0].passed is False)
    expect("runs can be listed by status", [r.id for r in client.evals.runs.list(made.id, status="completed")] == [run.id])
    return file, run


def graded(client, made):
    content = [{"item": json.loads(line)["item"], "sample": {"output_text": "Hardware"}} for line in TICKETS.open()]
    given = client.evals.runs.create(made.id, data_source={"type": "jsonl", "source": {"type": "file_content", "content": content}})
    counts = wait(client, given).result_counts
    expect("rows that bring their answers need no model", (counts.passed, counts.failed) == (4, 8) and given.model is None)


def ends(client, made, file, run):
    slow = client.evals.runs.create(made.id, data_source=source(file.id, "A long answer, please."))
    stopped = client.evals.runs.cancel(slow.id, eval_id=made.id)
    expect("a run can be cancelled", stopped.status == "canceled")
    gone = client.evals.runs.delete(run.id, eval_id=made.id)
    expect("a run can be deleted", gone.deleted and gone.run_id == run.id)
    client.evals.delete(made.id)
    expect("a deleted eval is gone", refused(lambda: client.evals.retrieve(made.id), openai.NotFoundError, code="not_found"))


def errors(client, made):
    create = lambda **more: client.evals.create(**{"data_source_config": CONFIG, "testing_criteria": [MATCH], **more})
    odd = lambda: create(testing_criteria=[{**MATCH, "operation": "same"}])
    expect("an unknown operation is named", refused(odd, openai.BadRequestError, param="testing_criteria[0].operation"))
    nowhere = lambda: client.evals.runs.create(made.id, data_source=source("file-none"))
    expect("a file that is not there is named", refused(nowhere, openai.NotFoundError, param="data_source.source.id"))


def main():
    client = openai.OpenAI()
    made = evals(client)
    file, run = runs(client, made)
    graded(client, made)
    errors(client, made)
    ends(client, made, file, run)
    return report()


if __name__ == "__main__":
    sys.exit(main())
