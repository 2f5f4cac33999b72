/**
 * Reads operands that are joined by words for and and or, of which or binds less, off the front of a list of words. All are
 * read, whatever the first ones say.
 */
export function readLogic(words: string[], { and, or }: { and: string; or: string }, operand: () => boolean): boolean {
  const joined = (word: string, next: () => boolean, join: (left: boolean, right: boolean) => boolean): boolean => {
    let value = next();
    while (words[0] === word) {
      words.shift();
      value = join(value, next());
    }
    return value;
  };
  const all = (): boolean => joined(and, operand, (left, right) => left && right);
  return joined(or, all, (left, right) => left || right);
}
