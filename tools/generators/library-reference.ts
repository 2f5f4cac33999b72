import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { emit, type Library, libraries } from '../libraries/library.ts';
import { type Declaration, declarationsOf } from './declarations.ts';
import type { GeneratedFile } from './generated-file.ts';
import { escaped, page } from './markdown.ts';

const root = join(import.meta.dirname, '../..');

/** The references of the libraries, docs/reference/<name>.md: what their entry points export, in the groups of these files. */
export function libraryReferences(): readonly GeneratedFile[] {
  emit();
  return libraries().map((library) => {
    const sections = Object.entries(library.entries).flatMap(([entry, path]) => entrySections(library, entry, path));
    const { name, manifest } = library;
    const begin = `What the package exports; [its README](../../packages/${name}/README.md) tells how to begin.`;
    return page(`${name}.md`, manifest.name, [begin, ...sections]);
  });
}

interface Group {
  readonly title: string;
  readonly exports: { readonly name: string; readonly exported: string; readonly from: string }[];
}

function entrySections(library: Library, entry: string, path: string): string[] {
  const { name, manifest, output } = library;
  const source = readFileSync(join(root, 'packages', name, 'src', `${path}.ts`), 'utf8');
  const isMain = entry === '.';
  const sections = isMain ? [] : [`# ${manifest.name}${entry.slice(1)}`];
  for (const { title, exports } of groupsOf(source)) {
    const [heading = '', ...rest] = title.split(': ');
    sections.push(`## ${heading.replace(/\.$/, '')}`, ...(rest.length > 0 ? [sentence(rest.join(': '))] : []));
    const bare: string[] = [];
    for (const { name: declared, exported, from } of exports) {
      const file = join(output, dirname(path), from.replace(/\.ts$/, '.d.ts'));
      const declarations = declarationsOf(readFileSync(file, 'utf8')).get(declared) ?? [];
      if (declarations.length === 0) throw new Error(`${file} declares no ${declared}, which ${path}.ts exports`);
      if (declarations.every(({ doc }) => doc === '')) bare.push(`\`${exported}\``);
      else
        sections.push(
          `### ${exported}`,
          ...declarations.flatMap((one) => declarationSections(one, declared, exported)),
        );
    }
    if (bare.length > 0) sections.push(`${bare.join(', ')}.`);
  }
  return sections;
}

/** An entry point is a list of groups: a line of comment, then what is exported from which file. */
function groupsOf(source: string): Group[] {
  const groups: Group[] = [];
  for (const part of source.matchAll(/^\/\/ (.*)$|^export (?:type )?\{([^}]*)\} from '([^']*)';$/gm)) {
    const [, title, names = '', from = ''] = part;
    if (title !== undefined) groups.push({ title, exports: [] });
    for (const item of names.split(',').map((one) => one.trim().replace(/^type /, ''))) {
      if (item === '') continue;
      const [name = '', exported = name] = item.split(' as ');
      groups.at(-1)?.exports.push({ name, exported, from });
    }
  }
  return groups;
}

function declarationSections({ doc, code }: Declaration, declared: string, exported: string): string[] {
  const [text = '', ...tags] = doc.split(/^@/m);
  const renamed = code.replace(new RegExp(`\\b${declared}\\b`), exported);
  const sections = [escaped(text.trim().replaceAll(' @throws ', ' Throws ')), '```ts\n' + renamed + '\n```'];
  for (const tag of tags) {
    const [, kind = '', body = ''] = /^(\w+)\s*([\s\S]*)$/.exec(tag.trim()) ?? [];
    if (kind === 'example') sections.push('Example:', '```ts\n' + body.trim() + '\n```');
    else sections.push(`${kind === 'throws' ? 'Throws' : `\`${kind}\``}: ${escaped(body.trim())}`);
  }
  return sections.filter((section) => section !== '');
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
