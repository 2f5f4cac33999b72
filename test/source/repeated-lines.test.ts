import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { repetitions } from './repeated-lines.ts';

/** Twelve with empty lines and comments, mostly. */
const least = 10;

test(`no ${least} lines of code stand twice`, () => {
  const paths = globSync('packages/*/src/**/*.ts').filter((path) => !/\.test\.ts$|\/generated\//u.test(path));
  expect(paths.length).toBeGreaterThan(500);
  const files = new Map(paths.toSorted().map((path) => [path, readFileSync(path, 'utf8')]));
  expect(repetitions(files, least)).toEqual([]);
});

test('imports, comments, empty lines and lists of names do not count; a run is told once, with all of its lines', () => {
  const head = (name: string) => `import { ${name} } from './${name}.ts';\n\n/** What ${name} does. */\n`;
  const files = new Map([
    ['a.ts', `${head('a')}one();\n\ntwo();\nthree();\nmore();\n`],
    ['b.ts', `${head('b')}  one();\n  // Then.\n  two();\n  three();\n  other();\n`],
    ['c.ts', `import {\n  one,\n  two,\n} from './x.ts';\nexport const all = [\n  one,\n  two,\n];\n`],
    ['d.ts', `import {\n  one,\n  two,\n} from './x.ts';\nexport const both = [\n  one,\n  two,\n];\n`],
  ]);
  expect(repetitions(files, 2)).toEqual([{ places: ['a.ts:4', 'b.ts:4'], length: 3 }]);
  expect(repetitions(files, 4)).toEqual([]);
});
