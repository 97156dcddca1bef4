"""What the file of a monitor holds.

A sample is a row under the monitor's name and the interaction's id, which is what makes the same
interaction one sample however many processes saw it. Its text is a row of its own, since it goes
after a week while the sample stays. `state` is what all samples so far amount to, written in the
transaction that adds them; the alerts of that transaction stand in `alerts`, and what each sink was
told of them in `deliveries`. Spans wait in `spans` until their trace is complete.
"""

from fourscore.stores.schema import Layout

TABLES = {
    "samples": """CREATE TABLE samples (
        number INTEGER PRIMARY KEY, monitor TEXT NOT NULL, id TEXT NOT NULL, at REAL NOT NULL,
        drawn INTEGER NOT NULL, status TEXT NOT NULL, passed INTEGER, value REAL,
        body BLOB NOT NULL)""",
    "samples_key": "CREATE UNIQUE INDEX samples_key ON samples (monitor, id)",
    "samples_order": "CREATE INDEX samples_order ON samples (monitor, number)",
    "samples_age": "CREATE INDEX samples_age ON samples (at)",
    "texts": """CREATE TABLE texts (
        sample INTEGER PRIMARY KEY REFERENCES samples, expires REAL NOT NULL,
        body BLOB NOT NULL)""",
    "texts_age": "CREATE INDEX texts_age ON texts (expires)",
    "states": """CREATE TABLE states (
        monitor TEXT PRIMARY KEY, updated REAL NOT NULL, body BLOB NOT NULL) WITHOUT ROWID""",
    "counts": """CREATE TABLE counts (
        monitor TEXT NOT NULL, what TEXT NOT NULL, n INTEGER NOT NULL,
        PRIMARY KEY (monitor, what)) WITHOUT ROWID""",
    "spent": """CREATE TABLE spent (
        monitor TEXT NOT NULL, hour INTEGER NOT NULL, calls INTEGER NOT NULL,
        tokens INTEGER NOT NULL, dollars REAL NOT NULL,
        PRIMARY KEY (monitor, hour)) WITHOUT ROWID""",
    "alerts": """CREATE TABLE alerts (
        number INTEGER PRIMARY KEY, monitor TEXT NOT NULL, stream TEXT NOT NULL,
        at REAL NOT NULL, open INTEGER NOT NULL, ended REAL, body BLOB NOT NULL)""",
    "alerts_order": "CREATE INDEX alerts_order ON alerts (monitor, number)",
    "alerts_open": "CREATE INDEX alerts_open ON alerts (monitor, stream) WHERE open",
    "deliveries": """CREATE TABLE deliveries (
        alert INTEGER NOT NULL REFERENCES alerts, sink TEXT NOT NULL, state TEXT NOT NULL,
        attempts INTEGER NOT NULL, sent INTEGER NOT NULL, next REAL, claim TEXT,
        error TEXT NOT NULL,
        PRIMARY KEY (alert, sink)) WITHOUT ROWID""",
    "spans": """CREATE TABLE spans (
        trace_id TEXT NOT NULL, span_id TEXT NOT NULL, at REAL NOT NULL, body BLOB NOT NULL,
        PRIMARY KEY (trace_id, span_id))""",
    "otel_traces": """CREATE TABLE otel_traces (
        trace_id TEXT PRIMARY KEY, first_seen REAL NOT NULL, last_seen REAL NOT NULL,
        rooted INTEGER NOT NULL, spans INTEGER NOT NULL, bytes INTEGER NOT NULL,
        claimed REAL NOT NULL, done REAL) WITHOUT ROWID""",
    "otel_open": "CREATE INDEX otel_open ON otel_traces (first_seen) WHERE done IS NULL",
    "otel_whole": """CREATE INDEX otel_whole ON otel_traces (last_seen)
        WHERE done IS NULL AND rooted""",
    "otel_done": "CREATE INDEX otel_done ON otel_traces (done) WHERE done IS NOT NULL",
}

MONITOR = Layout("a monitor", 0x5255424D, 1, TABLES)  # "RUBM"
