import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type Container, containers, execute } from '../pods.ts';
import { allowed, linesOf, unlisted } from '../truth/allowed.ts';

const root = join(import.meta.dirname, '../../..');
const script = readFileSync(join(root, 'test/cloud/truth/options.py'), 'utf8');

/** Where the options of a project come from. A plug-in `extends` another project; the images have those that are `from` them. */
interface Project {
  readonly from: 'images' | 'packages';
  readonly distributions: readonly string[];
  readonly also?: readonly string[];
  readonly extends?: string;
}
const projects = parse(readFileSync(join(root, 'packages/facts/recipe/2025.1/services.yaml'), 'utf8')) as Readonly<
  Record<string, Project>
>;
/** As `options.py` is told of a project. */
function namespacesOf(name: string, project: Project): string {
  const plugins = Object.values(projects).filter((one) => one.extends === name && one.from === 'images');
  return [project, ...plugins]
    .flatMap(({ distributions, also = [] }) => [...distributions.map((one) => `distribution/${one}`), ...also])
    .join(',');
}

/** The files of oslo.config that a container has, with the project that they are of. */
function filesOf({ mounts }: Container): { readonly files: readonly string[]; readonly name: string } {
  const found = mounts.flatMap((path) => {
    const name = /^\/etc\/[a-z-]+\/([a-z-]+)\.conf(?:\.d\/.*\.conf)?$/.exec(path)?.[1] ?? '';
    return name in projects ? [{ path, name }] : [];
  });
  return { files: found.map(({ path }) => path), name: found[0]?.name ?? '' };
}

/**
 * What is wrong in the files of oslo.config that containers of a service have (`/etc/<project>/<project>.conf`), and in
 * their environment, as the programs in them know their options.
 * @throws Error when no container of the service has such a file
 */
export async function configurationMistakes(service: string): Promise<string[]> {
  const checked = (await containers()).flatMap((container) => {
    const { files, name } = filesOf(container);
    const project = projects[name];
    return container.service === service && project !== undefined ? [{ container, files, name, project }] : [];
  });
  if (checked.length === 0) throw new Error(`no container of ${service} has a file of oslo.config`);
  const mistakes = checked.map(async ({ container, files, name, project }) => {
    const command = ['python3', '-W', 'ignore', '-', namespacesOf(name, project), ...files];
    const { code, stdout, stderr } = await execute(container, command, script);
    const lines = code === 0 ? unlisted(linesOf(stdout), allowed.options) : [stderr];
    return lines.map((line) => `${container.pod} ${container.name}: ${line}`);
  });
  return (await Promise.all(mistakes)).flat();
}
