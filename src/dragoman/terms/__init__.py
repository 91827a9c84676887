"""What a translation must keep: placeholders, numbers and addresses, terms of a glossary."""
