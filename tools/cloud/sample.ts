import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { controlPlane, root } from './place.ts';

/** A control plane of config/samples. */
export interface Sample {
  /** Its absolute path. */
  readonly file: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

const directory = join(root, 'config/samples');
const prefix = 'controlplane_';

/** The samples that are the control plane which these tools know, by name: minimal, ... */
const samples: ReadonlyMap<string, Sample> = new Map(
  readdirSync(directory).flatMap((name) => {
    if (!name.startsWith(prefix)) return [];
    const file = join(directory, name);
    const { metadata, spec } = parse(readFileSync(file, 'utf8')) as {
      readonly metadata: { readonly name: string };
      readonly spec: Sample['spec'];
    };
    return metadata.name === controlPlane.name ? [[name.slice(prefix.length, -'.yaml'.length), { file, spec }]] : [];
  }),
);

/** Their names. */
export const sampleNames: readonly string[] = [...samples.keys()];

/** One of them. @throws Error when there is none of that name */
export function sampleNamed(name: string): Sample {
  const sample = samples.get(name);
  if (sample === undefined) throw new Error(`there is no sample ${name}, expected one of ${sampleNames.join(', ')}`);
  return sample;
}

/** Whether it refers to a Ceph, which then has to be there. */
export const hasCeph = ({ spec }: Sample): boolean => spec['cephStorage'] !== undefined;
