"""What the journeys share: promises that are counted, and refusals that are looked at."""

checks = {"passed": 0, "failed": 0}


def expect(promise, holds):
    checks["passed" if holds else "failed"] += 1
    print(("ok  " if holds else "FAIL") + " " + promise)


def refused(call, error_class, **fields):
    try:
        call()
    except error_class as error:
        told = all(getattr(error, name) == value for name, value in fields.items())
        return told and (error.request_id or "").startswith("req_")
    return False


def report():
    print(f"{checks['passed']} passed, {checks['failed']} failed")
    return 0 if checks["failed"] == 0 else 1
