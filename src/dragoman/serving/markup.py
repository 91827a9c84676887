"""stub"""
from dragoman.serving.models import ServedModel
from dragoman.serving.passage import Passage, PlainText
def read_html(text: str, model: ServedModel) -> Passage:
    return PlainText(text, model.source, model.target)
