import { beforeAll, describe, expect, test } from 'vitest';
import { clouds } from './clouds.ts';
import { type FoundMutant, mutantsOf } from './mutants.ts';
import { explained } from './report.ts';
import { sampleOf } from './sample.ts';
import { readExplanations } from './survivors.ts';
import { type GoodRollout, trial } from './trial.ts';
import { type Covered, coveredRollout } from './unread.ts';

/** The smallest cloud: the others take longer, and `make test-wiring` has them all. */
const spec = clouds['identity'] ?? {};

describe('a mistake in the wiring', () => {
  let covered: Covered;
  let good: GoodRollout;
  let mutants: FoundMutant[];

  beforeAll(async () => {
    covered = await coveredRollout(spec);
    good = covered.good;
    mutants = mutantsOf(good.written);
  });

  const outcomeOf = async (id: string) => {
    const mutant = mutants.find((one) => one.id === id);
    if (mutant === undefined) throw new Error(`no mutant ${id}`);
    return await trial(mutant, spec, good);
  };

  test('ends with the words of the process that it stops', async () => {
    const grant = "GRANT ALL PRIVILEGES ON `keystone`.* TO 'keystone'@'%';";
    expect(await outcomeOf(`Secret my-cloud-keystone-db-create records.sql ${grant}: left out`)).toMatchObject({
      verdict: 'killed',
      words: expect.stringMatching(/Access denied for user 'keystone'@'%' to database 'keystone'/),
    });
  });

  test('in the order of steps is noticed by who comes too early', async () => {
    expect(await outcomeOf('Job my-cloud-keystone-db-sync not waited for')).toMatchObject({
      verdict: 'killed',
      words: expect.stringMatching(/bootstrap ended with 1: .*Table 'keystone\.\w+' doesn't exist/),
    });
  });

  test('that only lets strangers in is noticed', async () => {
    expect(await outcomeOf('NetworkPolicy my-cloud-mariadb ingress[0].from[0]: left out')).toMatchObject({
      verdict: 'killed',
      words: expect.stringMatching(/^stranger: everybody reaches [\d.]+:3306/),
    });
  });

  test('is not tried where no process looks', () => {
    const unread = mutants.map(({ id }) => id).filter(covered.isUnread);
    const file = 'ConfigMap my-cloud-keystone-config keystone.conf';
    expect(unread).toContain(`${file} [oslo_middleware] enable_proxy_headers_parsing: left out`);
    expect(unread).toContain(`${file} [oslo_middleware]: section misspelt`);
    expect(unread.filter((id) => /\[token\] provider|OS_DATABASE__CONNECTION|my\.cnf/.test(id))).toEqual([]);
  });

  test('of a sample is noticed, or there is a reason why not', async () => {
    const explanations = readExplanations(new URL('./survivors.yaml', import.meta.url).pathname);
    for (const mutant of sampleOf(mutants, 6, Number(process.env['WIRING_SEED'] ?? 1))) {
      const { verdict, words } = await trial(mutant, spec, good);
      const reason = verdict === 'survived' ? explained(mutant.id, explanations) : words;
      expect({ id: mutant.id, verdict, reason }).toMatchObject({
        verdict: expect.stringMatching('killed|survived'),
        reason: expect.any(String),
      });
    }
  }, 60_000);
});
