import { type Document, LineCounter, type Node, parseAllDocuments } from 'yaml';
import { CommandError } from './command-error.ts';
import { GoYamlValue, tooDeep } from './go-yaml-value.ts';

/** One document of a file, as JSON, and where a part of it stands. */
export interface ReadDocument {
  readonly value: unknown;
  /** Which one it is, such as `document 2`; absent where the file has no other. */
  readonly document?: string;
  /** An error about the document: `field` is a path such as `spec.nova`, or `(root)`. */
  readonly errorAt: (field: string, message: string) => CommandError;
}

/**
 * The documents of a YAML or JSON text, as kubectl reads them (go-yaml v2, see GoYamlValue): `<<` merges, an alias gives a
 * copy. Two things are refused that kubectl lets pass: a key that stands twice, of which it takes the last, and collections
 * that are more than 200 deep. Empty documents are left out.
 * @param name of the file, for messages
 * @throws CommandError with file, document (where there are several), line and field
 */
export function readDocuments(text: string, name: string): ReadDocument[] {
  const lines = new LineCounter();
  // Looking for keys that stand twice, the parser compares each key with all before it; a map of the walk below does not.
  const parsed = parseAllDocuments(text, {
    schema: 'failsafe',
    resolveKnownTags: false,
    uniqueKeys: false,
    lineCounter: lines,
  });
  const documents = Array.isArray(parsed) ? parsed : [];
  return documents.flatMap((document, position) => {
    const which = documents.length > 1 ? { document: `document ${position + 1}` } : {};
    const place = which.document === undefined ? `${name}: ` : `${name}: ${which.document}, `;
    const at = (offset: number, message: string) =>
      new CommandError(`${place}line ${lines.linePos(offset).line}: ${message}`);
    const [error] = document.errors;
    if (error !== undefined) throw at(error.pos[0], syntaxWords(error.message));
    if (document.directives?.yaml.explicit === true && document.directives.yaml.version !== '1.1') {
      throw at(
        0,
        `kubectl reads YAML 1.1 only, and refuses the directive %YAML ${document.directives.yaml.version}: remove it`,
      );
    }
    const { contents } = document;
    if (contents === null) return [];
    const walk = new GoYamlValue((node, field, message) =>
      at(node.range?.[0] ?? 0, field === '' ? message : `${field}: ${message}`),
    );
    const value = walk.valueOf(contents, '', 0);
    if (value === null) return [];
    const errorAt = (field: string, message: string) =>
      at(offsetOf(document, field), `${field === '' ? '(root)' : field}: ${message}`);
    return [{ value, ...which, errorAt }];
  });
}

/** The parser's words without the place and the excerpt that follow them. */
function syntaxWords(message: string): string {
  const [words = message, ...more] = message.split(/ at line \d+, column \d+:?/u);
  if (message.startsWith('Maximum call stack')) return tooDeep;
  const excerpt = more.join('').trimEnd();
  return `${words}${excerpt === '' ? '' : `:${excerpt}`}`;
}

/** Where a field that is there begins; else, where the nearest thing above it does. */
function offsetOf(document: Document, field: string): number {
  const path = field.split(/[.[\]]+/u).filter((part) => part !== '');
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as Node | undefined;
    if (node?.range) return node.range[0];
  }
  return document.contents?.range?.[0] ?? 0;
}
