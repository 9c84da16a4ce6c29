"""piecework: WordPiece at memory speed, with exact ids."""
