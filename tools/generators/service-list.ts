import { readFileSync } from 'node:fs';
import { children, kinds } from '@openstack-operator/openstack';
import type { GeneratedFile } from './generated-file.ts';
import { table } from './markdown.ts';

const path = 'README.md';
const start = '<!-- The services, by `make generate`: -->\n';
const end = '\n<!-- The end of the services. -->';

/** The list of services in the README, between two comments. @throws Error when one of them is not there */
export function serviceList(): GeneratedFile[] {
  const text = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${path}: expected the lines "${start.trim()}" and "${end.trim()}"`);
  return [{ path, content: `${text.slice(0, from)}${start}\n${list()}\n${text.slice(to)}` }];
}

function list(): string {
  const named = (isOptional: boolean) =>
    children.flatMap(({ kind, optional }) => (optional === isOptional ? [kind] : [])).join(', ');
  const others = kinds.flatMap(({ kind }) => (children.some((child) => child.kind === kind) ? [] : [kind]));
  const rows = [
    ['in every cloud', named(false)],
    ['on request', named(true)],
  ];
  return [
    table(['', `${children.length} services`], rows),
    `With ${others.join(' and ')} these are ${kinds.length} kinds.`,
  ].join('\n\n');
}
