/** One field of a document, such as `spec.ports[0].name`. */
export interface StatedField {
  readonly path: string;
  /** Stated before in the same object. */
  readonly repeated: boolean;
}

/**
 * Every field that a JSON text states, in its order. The text must be valid JSON. Strict decoding needs it: `JSON.parse`
 * keeps the last of repeated fields and says nothing.
 */
export function statedFields(text: string): StatedField[] {
  const found: StatedField[] = [];
  let position = 0;

  const skipSpace = () => {
    while (/\s/.test(text[position] ?? '')) position += 1;
  };
  const readString = (): string => {
    const start = position;
    position += 1;
    while (text[position] !== '"') position += text[position] === '\\' ? 2 : 1;
    position += 1;
    return JSON.parse(text.slice(start, position)) as string;
  };
  const readValue = (path: string): void => {
    skipSpace();
    if (text[position] === '{') readObject(path);
    else if (text[position] === '[') readList(path);
    else if (text[position] === '"') readString();
    else while (position < text.length && !/[,\]}\s]/.test(text[position] ?? '')) position += 1;
    skipSpace();
  };
  const readObject = (path: string): void => {
    const seen = new Set<string>();
    position += 1;
    skipSpace();
    while (text[position] !== '}') {
      skipSpace();
      const name = readString();
      const inner = path ? `${path}.${name}` : name;
      found.push({ path: inner, repeated: seen.has(name) });
      seen.add(name);
      skipSpace();
      position += 1;
      readValue(inner);
      if (text[position] === ',') position += 1;
    }
    position += 1;
  };
  const readList = (path: string): void => {
    position += 1;
    skipSpace();
    for (let index = 0; text[position] !== ']'; index += 1) {
      readValue(`${path}[${index}]`);
      if (text[position] === ',') position += 1;
    }
    position += 1;
  };

  readValue('');
  return found;
}
