import { expect, onTestFinished } from 'vitest';
import { controlPlane, program } from '../kubernetes.ts';
import { readCatalogueAnew } from '../running-cloud.ts';
import { until } from '../until.ts';
import { configurationMistakes } from './configuration.ts';
import { memoryOf } from './memory.ts';

/** Fields of services that read no file of oslo.config, or whose packages list no options. */
const withoutOslo = ['adjutant', 'horizon', 'skyline', 'storlets', 'swift', 'venus'];

/**
 * Patches the control plane's field of a service, and waits until it is Ready, or gone where it is disabled, whatever users
 * keep there: `held` says by what the control plane has to say first that it is kept. What its files
 * and its environment say has to be options of its programs then. When the test is over the field is removed again.
 */
export function optionalService(
  field: string,
  plural: string,
): (spec: { readonly enabled: boolean; readonly [field: string]: unknown }, held?: string) => Promise<void> {
  const patch = async (spec: object | null) => {
    const { name, namespace } = (await controlPlane()).metadata;
    const text = JSON.stringify({ spec: { [field]: spec } });
    await program('kubectl', '-n', namespace, 'patch', 'openstackcontrolplane', name, '--type', 'merge', '-p', text);
    return namespace;
  };
  /** What users keep may go with its service, or is kept from it. */
  const force = async (isForced: boolean) => {
    const { name, namespace } = (await controlPlane()).metadata;
    const annotation = `openstack.k8s.io/delete-with-resources${isForced ? '=true' : '-'}`;
    await program('kubectl', '-n', namespace, 'annotate', 'openstackcontrolplane', name, '--overwrite', annotation);
  };
  const memory: Record<string, number> = {};
  onTestFinished(async ({ task }) => {
    Object.assign(task.meta, { memory: { ...task.meta.memory, ...memory } });
    await force(true);
    await patch(null);
  });
  return async (spec, held) => {
    await force(!spec.enabled && held === undefined);
    const namespace = await patch(spec);
    const ready = '{.items[*].status.conditions[?(@.type=="Ready")].status}';
    const reaches = (kind: string, wanted: string, words: string) =>
      until({
        what: `${kind} to be ${words}`,
        seconds: 600,
        probe: async () => {
          const found = await program('kubectl', '-n', namespace, 'get', kind, '-o', `jsonpath=${ready}`);
          return found === wanted || undefined;
        },
        explain: () => program('kubectl', '-n', namespace, 'get', kind),
      });
    if (!spec.enabled) {
      if (held !== undefined) {
        const message = () =>
          program(
            'kubectl',
            '-n',
            namespace,
            'get',
            'openstackcontrolplanes',
            '-o',
            'jsonpath={.items[*].status.message}',
          );
        await until({
          what: `the control plane to say that ${field} has ${held}`,
          seconds: 120,
          probe: async () => (await message()).includes(held) || undefined,
          explain: message,
        });
        await force(true);
      }
      await reaches(plural, '', 'gone');
      return;
    }
    await reaches(plural, 'True', 'Ready');
    // Others may have to hear of it: Nova, that somebody reads its notifications.
    await reaches('openstackcontrolplanes', 'True', 'Ready');
    readCatalogueAnew();
    // Pods are labelled with the name of the service, which is the field in small letters.
    const name = field.toLowerCase();
    if (!withoutOslo.includes(field)) expect(await configurationMistakes(name)).toEqual([]);
    const mebibytes = await memoryOf(name);
    if (mebibytes > 0) memory[field] = mebibytes;
  };
}
