import { expect, test } from 'vitest';
import { outcomeOf } from './outcome.ts';

test('a service that is switched on adds its section to the configuration of another one, and reaches nobody else', async () => {
  const { without, during, after, together, byItself, beside } = await outcomeOf('peers.ts');
  const others = { 'my-cloud-keystone-api': 1, 'my-cloud-memcached': 1, 'my-cloud-placement-api': 1 };
  const generations = (bell: number) => ({ ...others, 'my-cloud-bell-api': bell });
  const section = expect.stringMatching(/^\[echo\]\nauth_type = password\n[^[]*username = bell\n/) as string;
  expect(without).toEqual({ section: 'none', generations: generations(1) });
  expect(during).toEqual({ section, generations: generations(2) });
  expect(after).toEqual({ section: 'none', generations: generations(3) });
  expect(together).toEqual({ section, generations: generations(1) });
  expect(byItself).toBe('none');
  expect(beside).toContain('endpoint_override = http://echo-api:8999');
});
