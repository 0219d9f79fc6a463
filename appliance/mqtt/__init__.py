"""The broker's side of a table: documents, topics, requests and the connection."""
