"""What a person looks at: the pictures of the analyses, the report in one file, and the explorer's page."""
