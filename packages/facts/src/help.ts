import { texts } from './generated/2025.1/help/index.js';
import { parsedOf } from './parsed.ts';
import type { Texts } from './releases.ts';
import { factsOf } from './service-facts.ts';

type HelpText = Readonly<Record<string, readonly (readonly [group: string, name: string, help: string])[]>>;

const helpTexts: ReadonlyMap<string, Texts> = new Map([['2025.1', texts]]);

/** What the package says of an option, in lines as it has them; undefined where it says nothing, or has no such option. */
export function helpOf(release: string, service: string, group: string, name: string): string | undefined {
  const facts = factsOf(release, service);
  const option = facts?.option(group, name);
  const owner = facts?.namespaces.find((namespace) => namespace.name === option?.namespace)?.owner;
  if (option === undefined || owner === undefined) return undefined;
  for (const place of [service, owner]) {
    const lines = parsedOf<HelpText>(helpTexts.get(release), place)?.[option.namespace];
    const found = lines?.find((line) => line[0] === group && line[1] === name);
    if (found !== undefined) return found[2];
  }
  return undefined;
}
