//! Files become records: `.html .txt .eml .mbox .jsonl .warc`, each also `.gz` and `.zst`, directories, Maildirs, stdin.
