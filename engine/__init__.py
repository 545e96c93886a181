"""Ask a question, get a short answer that is right, or an honest "i don't know"."""

from engine.answers import Answer
from engine.session import Session, answer, answer_many

__all__ = ["Answer", "Session", "answer", "answer_many"]
