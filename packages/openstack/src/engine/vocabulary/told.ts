import { auditSuffix } from '../names/names.ts';
import { type Kept, keepingsOf } from './keeping.ts';
import type { Found, Job } from './service.ts';

/** A line about one that is told. */
const toldLine = /^\{(.+): ([\w-]{1,64})\}$/;

/**
 * What is found of what is kept of a service elsewhere, each as a line `{<kind> <name>: <identifier>}`: by the Job that makes
 * it, and by each audit, which makes one anew that was deleted, and says again what was missed. It is there whatever else of
 * the list has failed.
 */
export function toldRecords(
  kept: Pick<Kept, 'service' | 'context'>,
): Pick<Job, 'suffix' | 'finds' | 'findsOfFailed'>[] {
  const all = keepingsOf(kept.service, kept.context.spec).flatMap(({ keeping: { suffix, told } }) =>
    (told?.(kept) ?? []).map((title) => ({ suffix, title })),
  );
  if (all.length === 0) return [];
  const titles = all.map(({ title }) => title);
  const finds = (words: readonly string[], before: Found): Found => ({
    ...before,
    ...Object.fromEntries(
      words.flatMap((line) => {
        const [, title = '', id = ''] = toldLine.exec(line) ?? [];
        return titles.includes(title) ? [[title, id]] : [];
      }),
    ),
  });
  return [...new Set([...all.map(({ suffix }) => suffix), auditSuffix])].map((suffix) => ({
    suffix,
    finds,
    findsOfFailed: true,
  }));
}
