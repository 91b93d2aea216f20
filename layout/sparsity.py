"""placeholder."""

from .elements import Element


def metadata_words(element: Element, k: int) -> int:
    n = k // (2 * element.instruction_k)
    return n if element.bits == 8 else -(-n // 2)


def selector(element: Element, instruction: int) -> tuple[int, int]:
    return (instruction, 0) if element.bits == 8 else (instruction // 2, instruction % 2)
