import { type GeneratedFile, generatedNotice } from './generated-file.ts';

/** A page of the reference: its path below `docs/reference`, its title, and its blocks in Markdown. */
export function page(path: string, title: string, blocks: readonly string[]): GeneratedFile {
  const content = [`<!-- ${generatedNotice} -->`, `# ${title}`, ...blocks].join('\n\n');
  return { path: `docs/reference/${path}`, content: `${content}\n` };
}

/** A table of Markdown. Cells are Markdown; what would end a cell is escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`)
    .join('\n');
}

/** Text in which `<name>` is no HTML, but between backticks, where Markdown leaves it alone. */
export function escaped(text: string): string {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part.replaceAll('<', '&lt;') : part))
    .join('`');
}
