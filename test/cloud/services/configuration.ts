import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { containers, execute } from '../pods.ts';

const root = join(import.meta.dirname, '../../..');
const script = readFileSync(join(root, 'test/cloud/truth/options.py'), 'utf8');

interface Project {
  readonly distributions: readonly string[];
  readonly also?: readonly string[];
}
const projects = parse(readFileSync(join(root, 'packages/facts/recipe/2025.1/services.yaml'), 'utf8')) as Readonly<
  Record<string, Project>
>;

/**
 * What is wrong in the files of oslo.config that containers of a service have (`/etc/<project>/*.conf`), and in their
 * environment, as the programs in them know their options.
 */
export async function configurationMistakes(service: string): Promise<string[]> {
  const checked = (await containers()).flatMap((container) => {
    const files = container.mounts.filter((path) => /^\/etc\/[a-z]+\/.*\.conf$/.test(path));
    const project = projects[files[0]?.split('/')[2] ?? ''];
    return container.service === service && project !== undefined ? [{ container, files, project }] : [];
  });
  if (checked.length === 0) throw new Error(`no container of ${service} has a file of oslo.config`);
  const mistakes = checked.map(async ({ container, files, project: { distributions, also = [] } }) => {
    const words = [...distributions.map((name) => `distribution/${name}`), ...also].join(',');
    const command = ['python3', '-W', 'ignore', '-', words, ...files];
    const { code, stdout, stderr } = await execute(container, command, script);
    const lines = code === 0 ? stdout.split('\n').filter((line) => line !== '') : [stderr];
    return lines.map((line) => `${container.pod} ${container.name}: ${line}`);
  });
  return (await Promise.all(mistakes)).flat();
}
