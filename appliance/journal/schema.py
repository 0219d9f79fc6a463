"""The tables of the journal file and the steps that lead to them from older files.

`PRAGMA user_version` counts the steps already taken, `application_id` tells our files from others. Each step
is one transaction together with its new version number, so a power cut leaves the old or the new format.

record      (seq, ordinal) is the primary key: appending an event twice is an error of the database, not a
            second event. `last_row` is the newest source row before the record's batch: where the rows since
            a record begin, without an index on the rows. Format 2 indexes the evidence among the records, which
            is pruned, so that nobody has to look through the facts for it.
source_row  in the order of arrival. Format 4 has sums of edges among them (`edges` is how many), each of one stretch
            of one beam's noise: whoever writes the same stretch again, grown, takes the row's place at the end. `what`
            is for rows that are no change of a channel: a source is `lost` or `back`, the program has `started`.
progress    what of each source is durable; written in the transaction of the rows themselves, so that it can
            neither run ahead of them nor fall behind. Format 3 keeps it for each of a source's last boots, the
            newest with the highest `turn`: a board that comes back tells again what it has not heard to be safe.
boot        host boot ids, spelled out once instead of in every stamp.
"""

APPLICATION_ID = 0x706F636B  # "pock"

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE boot (
            boot INTEGER PRIMARY KEY,
            boot_id TEXT NOT NULL UNIQUE
        ) STRICT""",
        """CREATE TABLE record (
            seq INTEGER NOT NULL,
            ordinal INTEGER NOT NULL,
            match INTEGER NOT NULL,
            kind TEXT NOT NULL,
            fact INTEGER NOT NULL CHECK (fact IN (0, 1)),
            version INTEGER NOT NULL,
            body TEXT NOT NULL,
            last_row INTEGER NOT NULL,
            boot INTEGER NOT NULL,
            monotonic_ns INTEGER NOT NULL,
            wall_ns INTEGER NOT NULL,
            clock_synchronised INTEGER NOT NULL CHECK (clock_synchronised IN (0, 1)),
            PRIMARY KEY (seq, ordinal)
        ) STRICT, WITHOUT ROWID""",
        "CREATE INDEX record_by_match ON record (match)",
        """CREATE TABLE source_row (
            row INTEGER PRIMARY KEY,
            source TEXT NOT NULL,
            source_boot INTEGER,
            sequence INTEGER,
            channel INTEGER NOT NULL,
            level INTEGER,
            colour TEXT,
            at_ns INTEGER NOT NULL,
            boot INTEGER NOT NULL,
            monotonic_ns INTEGER NOT NULL,
            wall_ns INTEGER NOT NULL,
            clock_synchronised INTEGER NOT NULL CHECK (clock_synchronised IN (0, 1))
        ) STRICT""",
        """CREATE TABLE answer (
            position INTEGER PRIMARY KEY,
            transaction_id TEXT NOT NULL UNIQUE,
            response TEXT NOT NULL
        ) STRICT""",
        """CREATE TABLE progress (
            source TEXT PRIMARY KEY,
            source_boot INTEGER NOT NULL,
            next_sequence INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID""",
    ),
    ("CREATE INDEX evidence ON record (match) WHERE fact = 0",),
    (
        "ALTER TABLE progress RENAME TO progress_of_newest_boot",
        """CREATE TABLE progress (
            turn INTEGER PRIMARY KEY,
            source TEXT NOT NULL,
            source_boot INTEGER NOT NULL,
            next_sequence INTEGER NOT NULL,
            UNIQUE (source, source_boot)
        ) STRICT""",
        "INSERT INTO progress (source, source_boot, next_sequence)"
        " SELECT source, source_boot, next_sequence FROM progress_of_newest_boot",
        "DROP TABLE progress_of_newest_boot",
    ),
    (
        "ALTER TABLE source_row ADD COLUMN what TEXT",
        "ALTER TABLE source_row ADD COLUMN since_ns INTEGER",
        "ALTER TABLE source_row ADD COLUMN edges INTEGER",
        "ALTER TABLE source_row ADD COLUMN shortest_ns INTEGER",
        "ALTER TABLE source_row ADD COLUMN longest_ns INTEGER",
        "ALTER TABLE source_row ADD COLUMN noisy_ns INTEGER",
        "ALTER TABLE source_row ADD COLUMN pulse_ns INTEGER",
        "CREATE UNIQUE INDEX stretch ON source_row (source, channel, boot, since_ns) WHERE edges IS NOT NULL",
    ),
)

SCHEMA_VERSION = len(MIGRATIONS)
