import {
  type Client,
  type Clock,
  CustomResourceDefinition,
  type Health,
  isApiError,
  type Log,
  sleep,
} from '@openstack-operator/kube';
import { type Api, crd, group, kinds, sameFields, version } from '@openstack-operator/openstack';
import { canI } from './cluster-scope.ts';
import { isPassing } from './report.ts';

/** What the comparison needs. */
export interface DefinitionsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  /** Gets the check `definitions` of readiness. */
  readonly health?: Health;
  readonly signal: AbortSignal;
}

/** Names of the CustomResourceDefinitions of the kinds that this version offers. */
export const definitionNames: readonly string[] = kinds.map(nameOf);

/** Milliseconds between two looks at definitions that are not as they have to be. */
const period = 10_000;

/**
 * Waits until the cluster serves the kinds as this version knows them: with another schema the API server drops what it
 * does not know without a word, and the operator would act on half of what users and itself have stated. Where
 * definitions may not be read (Roles alone), it warns and goes on.
 */
export async function untilDefinitionsMatch(options: DefinitionsOptions): Promise<void> {
  const { clock, log, health, signal } = options;
  let wrong: string | undefined = 'not compared yet';
  health?.ready.set('definitions', () => wrong);
  let told: string | undefined;
  for (;;) {
    wrong = await difference(options);
    if (wrong === undefined) return;
    if (wrong !== told) log.error('waits for the definitions of this version', { problem: wrong });
    told = wrong;
    await sleep(clock, period, signal);
  }
}

/** What is wrong with the definitions, with the way out; undefined when nothing is, or when they may not be read. */
async function difference({ client, log, signal }: DefinitionsOptions): Promise<string | undefined> {
  const differing: string[] = [];
  const missing: string[] = [];
  for (const kind of kinds) {
    const name = nameOf(kind);
    try {
      if (!(await canI(client, { kind: CustomResourceDefinition, verb: 'get', name }, signal))) {
        log.warn('cannot tell whether definitions are those of this version, as none may be read', {
          definition: name,
        });
        return undefined;
      }
      const live = await client.get(CustomResourceDefinition, { name }, { signal });
      if (!isServed(kind, live)) differing.push(name);
    } catch (error) {
      if (isApiError(error, 404)) missing.push(name);
      else if (isPassing(error) && !signal.aborted)
        return `CustomResourceDefinition ${name} could not be read: ${String(error)}`;
      else throw error;
    }
  }
  if (differing.length + missing.length === 0) return undefined;
  const problems = [
    ...(missing.length === 0 ? [] : [`not installed: ${missing.join(', ')}`]),
    ...(differing.length === 0 ? [] : [`of another version than this operator: ${differing.join(', ')}`]),
  ];
  return `CustomResourceDefinitions ${problems.join('; ')}. Apply those of this version: kubectl apply --server-side -k config/crd`;
}

/** Whether a definition serves all that this version states: every field, its bounds and rules. */
function isServed(kind: Api, live: CustomResourceDefinition): boolean {
  const schemaIn = (definition: unknown) =>
    (definition as Definition).spec.versions.find(({ name, served }) => name === version && served)?.schema;
  return sameFields(schemaIn(crd(kind)), schemaIn(live));
}

interface Definition {
  readonly spec: { readonly versions: readonly { name: string; served: boolean; schema: unknown }[] };
}

function nameOf({ plural }: Api): string {
  return `${plural}.${group}`;
}
