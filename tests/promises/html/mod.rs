//! A page's words are those that a browser's parser finds, and no page is slow to read.

mod hostile;
mod tokenizer;
mod tree;
