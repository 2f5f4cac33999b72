import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { realClock } from '@openstack-operator/kube';
import { openLog } from './log.ts';
import { explained, reportOf } from './report.ts';
import { plan, type Result, tryAll, unnoticed } from './run.ts';
import { sampleOf } from './sample.ts';
import { readExplanations } from './survivors.ts';
import type { Question } from './worker.ts';

const help = `usage: node test/sandbox/wiring/main.ts [options]

Makes every mistake in the wiring of the minimal cloud, one at a time, and sees whether the cloud notices. The whole run
writes test/sandbox/wiring/report.md and takes about an hour of two cores; any selection only prints what it finds.

  --only TEXT     mutants whose name contains it
  --cloud NAME    mutants that are tried on that cloud of clouds.ts; may be given several times
  --sample K      K of them
  --seed N        which ones, and in which order (default 1)
  --log FILE      keeps what is found, and tries again only what survived for no known reason or broke: after an
                  interruption, a new explanation, or a process model that knows better
  --minutes N     begins no further trial after so long; with --log, the next run goes on from there
  --workers N     threads (default: one a core)
  --list          names them, and tries none
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    cloud: { type: 'string', multiple: true },
    seed: { type: 'string', default: '1' },
    sample: { type: 'string' },
    log: { type: 'string' },
    minutes: { type: 'string' },
    workers: { type: 'string', default: String(availableParallelism()) },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
process.exitCode = values.help ? print(help) : await main();

async function main(): Promise<number> {
  const begun = realClock.now();
  const planned = await plan();
  const wanted = planned.filter(
    ({ id, cloud }) => id.includes(values.only ?? '') && (values.cloud?.includes(cloud) ?? true),
  );
  const chosen = sampleOf(wanted, Number(values.sample ?? wanted.length), Number(values.seed));
  if (values.list) return print(chosen.map(({ cloud, id }) => `${cloud}: ${id}\n`).join(''));
  const explanations = readExplanations(new URL('./survivors.yaml', import.meta.url).pathname);
  const mayLive = (id: string) => explained(id, explanations) !== undefined;
  const log = values.log === undefined ? undefined : openLog(values.log);
  const isKnown = ({ id }: Question) => {
    const verdict = log?.known.get(id)?.verdict;
    return verdict === 'killed' || (verdict === 'survived' && mayLive(id));
  };
  const untried = chosen.filter(({ unread }) => unread).map(unnoticed);
  const tried = chosen.filter(({ unread }) => !unread);
  const results: Result[] = tried.filter(isKnown).flatMap(({ id }) => log?.known.get(id) ?? []);
  const kept = results.length;
  const onResult = (result: Result) => {
    results.push(result);
    if (!untried.includes(result)) log?.append(result);
    const { verdict, id, words, milliseconds } = result;
    const why = verdict === 'survived' ? (explained(id, explanations) ?? 'UNEXPLAINED') : words;
    console.log(`${results.length}/${chosen.length} ${verdict} ${id} (${milliseconds} ms) => ${why}`);
  };
  const left = tried.filter((question) => !isKnown(question));
  for (const result of untried) onResult(result);
  const last = begun + Number(values.minutes ?? Number.POSITIVE_INFINITY) * 60_000;
  const enough = () => realClock.now() >= last;
  await tryAll(left, { workers: Number(values.workers), mayLive, onResult, enough });
  const whole = chosen.length === planned.length;
  const report = reportOf(results, explanations, {
    command: ['node test/sandbox/wiring/main.ts', ...process.argv.slice(2)].join(' '),
    seed: values.seed,
    seconds: Math.round((realClock.now() - begun) / 1000),
    kept,
    untried: untried.length,
    left: chosen.length - results.length,
    whole,
  });
  console.log(`\n${report.summary}`);
  if (whole) writeFileSync(new URL('./report.md', import.meta.url), report.text);
  return report.failures.length === 0 ? 0 : 1;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}
