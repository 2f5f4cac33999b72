/** What is exported under a name: its documentation and its declaration, as the compiler emits them. */
export interface Declaration {
  /** Text of the docstring, without its frame; empty when there is none. */
  readonly doc: string;
  readonly code: string;
}

const start = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|const|function|class) (\w+)/;

/** The declarations of a `.d.ts` file by name; a name of a value and of a type has both. */
export function declarationsOf(text: string): ReadonlyMap<string, readonly Declaration[]> {
  const found = new Map<string, Declaration[]>();
  const lines = text.split('\n');
  let doc: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (line.startsWith('/**')) {
      const end = lines.findIndex((other, index) => index >= at && other.endsWith('*/'));
      doc = lines.slice(at, end + 1);
      at = end;
      continue;
    }
    const name = start.exec(line)?.[1];
    if (name !== undefined) {
      const end = endOf(lines, at);
      const code = lines.slice(at, end + 1).filter((one) => !/^\s*#private;$/.test(one));
      found.set(name, [...(found.get(name) ?? []), { doc: unframed(doc), code: tidy(code) }]);
      at = end;
    }
    doc = [];
  }
  return found;
}

/** The line on which a declaration ends: where all that it opened is closed again. */
function endOf(lines: readonly string[], from: number): number {
  let depth = 0;
  for (let at = from; at < lines.length; at++) {
    const code = (lines[at] ?? '').replace(/^\s*(?:\/\*\*|\*).*$/, '').replaceAll('=>', '');
    for (const sign of code) depth += '{(['.includes(sign) ? 1 : '})]'.includes(sign) ? -1 : 0;
    if (depth === 0 && /[;}]$/.test(code)) return at;
  }
  return lines.length - 1;
}

function unframed(doc: readonly string[]): string {
  return doc
    .map((line) => line.replace(/^\s*\/?\*{1,2}\/? ?/, '').replace(/ ?\*\/$/, ''))
    .join('\n')
    .trim();
}

/** As our sources look: indented by two, without what only the compiler needs. */
function tidy(code: readonly string[]): string {
  return code
    .map((line) => line.replace(/^(?: {4})+/, (indent) => ' '.repeat(indent.length / 2)))
    .join('\n')
    .replace(/^(?:export )?(?:declare )?/, '');
}
