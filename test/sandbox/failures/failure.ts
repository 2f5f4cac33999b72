import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** One way in which a program of the cloud fails, and what it says then: on the real cloud as on the embedded one. */
export interface Failure {
  /** What is wrong, in words; unique. */
  readonly what: string;
  /** Mistakes of test/sandbox/wiring by their name. */
  readonly mutants?: readonly string[];
  /** Mistakes that it does not know. */
  readonly changes?: readonly TextChange[];
  /** The workload or Job whose program is watched, such as `Job my-cloud-keystone-db-sync`. */
  readonly run: string;
  /** Workloads and Jobs that get copies too, each begun when the one before it is ready or done; Services lead to the copies. */
  readonly before?: readonly string[];
  /** It ends with this exit code. */
  readonly ends?: number;
  /** It never gets so far as to run; the kubelet says why. */
  readonly starts?: false;
  /** It serves, and this command in its container shows the failure. */
  readonly ask?: readonly string[];
  /** The essential words; `…` stands for anything within the line. */
  readonly says: string;
}

/** Text that stands for other text in one object: in a key of its data, or in its spec as JSON. */
export interface TextChange {
  /** `ConfigMap my-cloud-nova-config nova.conf`, `Job my-cloud-keystone-db-sync`; of an immutable ConfigMap without the digest. */
  readonly in: string;
  readonly text: string;
  readonly becomes: string;
}

/** Every failure that is known; those that repeat a mistake of test/sandbox/wiring are known by its name. */
export function readFailures(): Failure[] {
  const text = readFileSync(new URL('./failures.yaml', import.meta.url), 'utf8');
  const { provoked, replayed } = parse(text) as { provoked: Failure[]; replayed: Omit<Failure, 'what'>[] };
  return [...provoked, ...replayed.map((failure) => ({ what: failure.mutants?.join(', ') ?? '', ...failure }))];
}

/** Whether a text has the essential words in one of its lines. */
export function saysSo({ says }: Failure, text: string): boolean {
  const pattern = says
    .split('…')
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`))
    .join('.*');
  return new RegExp(pattern).test(text);
}
