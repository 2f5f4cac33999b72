import { dirname, join, normalize } from 'node:path';
import { composedMistakes, program, validateResource } from '@openstack-operator/cli';
import type { KubeObject } from '@openstack-operator/kube';
import { group } from '@openstack-operator/openstack';
import { runOptions } from '@openstack-operator/operator';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { anchorsOf, blocksOf, files, pages, proseOf, textOf } from './pages.ts';

const known = new Set(files);
const isPath = (path: string) => known.has(path) || files.some((file) => file.startsWith(`${path}/`));
const docs = pages.filter(({ path }) => path.startsWith('docs/') || !path.includes('/'));

/** Links within the repository, as paths below its root with their anchors. */
function linksOf({ path, text }: { path: string; text: string }) {
  return [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/gu)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/u.test(target)) return [];
    const [file = '', anchor] = target.split('#');
    return [{ target, file: file === '' ? path : normalize(join(dirname(path), file)).replace(/\/$/u, ''), anchor }];
  });
}

test('links of all pages lead to files, and to headings that these have', () => {
  const broken = pages.flatMap((page) =>
    linksOf(page)
      .filter(({ file, anchor }) => {
        if (!isPath(file)) return true;
        return anchor !== undefined && !anchorsOf(textOf(file) ?? '').includes(anchor);
      })
      .map(({ target }) => `${page.path}: ${target}`),
  );
  expect(broken).toEqual([]);
});

test('pages that code and manifests name exist', () => {
  const broken = files
    .filter((path) => /\.(ts|ya?ml|sh|json)$/u.test(path) || path === 'Makefile')
    .flatMap((path) =>
      [...(textOf(path) ?? '').matchAll(/(?<![\w/.-])docs\/[\w/-]+\.md/gu)]
        .filter(([page]) => !known.has(page))
        .map(([page]) => `${path}: ${page}`),
    );
  expect(broken).toEqual([]);
});

test('every page of docs is linked from another page', () => {
  const linked = new Set(
    pages.flatMap((page) =>
      linksOf(page)
        .map(({ file }) => file)
        .filter((file) => file !== page.path),
    ),
  );
  expect(docs.map(({ path }) => path).filter((path) => path.startsWith('docs/') && !linked.has(path))).toEqual([]);
});

test('resources in the pages are valid', () => {
  const mistakes = docs.flatMap(({ path, text }) =>
    blocksOf(text, 'yaml').flatMap((block) => {
      const documents = parseAllDocuments(block);
      const errors = documents.flatMap(({ errors }) => errors.map(({ message }) => message));
      const objects = documents.map((document) => document.toJS() as Partial<KubeObject>);
      if (objects.some(({ apiVersion }) => apiVersion === undefined))
        return [`${path}: a YAML block is not a whole object:\n${block}`];
      const resources = (objects as KubeObject[]).filter(({ apiVersion }) => apiVersion.startsWith(`${group}/`));
      const composed = composedMistakes(resources).filter(({ isWarning }) => isWarning !== true);
      const found = [...resources.flatMap(validateResource), ...composed];
      return [...errors, ...found.map(({ field, message }) => `${field}: ${message}`)].map((one) => `${path}: ${one}`);
    }),
  );
  expect(mistakes).toEqual([]);
});

test('commands of our own in the pages exist, with their options', () => {
  const mistakes = docs.flatMap(({ path, text }) =>
    [...text.matchAll(/kubectl[ -]openstack ([a-z]+)([^`\n|]*)/gu)].flatMap(([line, name = '', rest = '']) => {
      const command = program.commands.find((command) => command.name() === name);
      if (command === undefined) return name === 'help' ? [] : [`${path}: ${line}: no such command`];
      const options = command.options.flatMap(({ short, long }) => [short, long]);
      return [...rest.matchAll(/(?<=\s)--?[a-z][a-z-]*/gu)]
        .filter(([option]) => !options.includes(option) && !['-h', '--help'].includes(option))
        .map(([option]) => `${path}: ${line}: no option ${option}`);
    }),
  );
  expect(mistakes).toEqual([]);
});

test('options of the operator in the pages exist', () => {
  const used = docs.flatMap(({ text }) =>
    [...text.matchAll(/openstack-operator run ([^`\n]*)/gu)].flatMap(([, rest = '']) =>
      [...rest.matchAll(/--([a-z-]+)/gu)].map(([, option = '']) => option),
    ),
  );
  expect(used.length).toBeGreaterThan(0);
  expect(used.filter((option) => !Object.hasOwn(runOptions, option))).toEqual([]);
});

test('targets of make in the pages exist', () => {
  const makefile = textOf('Makefile') ?? '';
  const targets = new Set([...makefile.matchAll(/^([a-z][a-z -]*):/gmu)].flatMap(([, names = '']) => names.split(' ')));
  const used = docs.flatMap(({ path, text }) =>
    [...text.matchAll(/(?:`|^ *(?:\$ )?)make ([a-z][a-z-]*)/gmu)].map(([, target = '']) => ({ path, target })),
  );
  expect(used.length).toBeGreaterThan(10);
  expect(used.filter(({ target }) => !targets.has(target))).toEqual([]);
});
