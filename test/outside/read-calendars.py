"""Reads calendars with Debian's python3-icalendar and python3-recurring-ical-events: a JSON list of texts from standard
input, and for each the starts and ends of its events in a year, with `titles` also their titles, as a JSON list of lists."""
import datetime
import json
import sys

import icalendar
import recurring_ical_events

first = datetime.datetime(2026, 11, 1)
last = datetime.datetime(2027, 11, 1)


def written(time):
    if not isinstance(time, datetime.datetime):
        return f"{time}T00:00:00"
    return time.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def title(event):
    return f" {event['SUMMARY']}" if "titles" in sys.argv else ""


def windows(text):
    try:
        calendar = icalendar.Calendar.from_ical(text)
        events = recurring_ical_events.of(calendar).between(first, last)
    except Exception as error:
        return [f"refused: {error}"]
    return sorted(f"{written(e['DTSTART'].dt)} {written(e['DTEND'].dt)}{title(e)}" for e in events)


print(json.dumps([windows(text) for text in json.load(sys.stdin)]))
