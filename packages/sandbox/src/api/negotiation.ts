import { StatusError } from './status.ts';

/** How the client wants its answer: whole objects, a table, or metadata alone; as JSON or YAML. */
export interface Wanted {
  readonly as: 'object' | 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
  readonly yaml: boolean;
}

interface Clause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

/**
 * Chooses among what the `Accept` header offers. Protobuf is never written: clients that ask for it offer JSON too.
 * @throws StatusError 406
 */
export function negotiate(accept: string): Wanted {
  if (accept.trim() === '') return { as: 'object', yaml: false };
  for (const clause of clauses(accept)) {
    const json = ['application/json', '*/*', 'application/*'].includes(clause.type);
    const yaml = clause.type === 'application/yaml';
    if (!json && !yaml) continue;
    const as = clause.parameters.get('as');
    if (as === undefined) return { as: 'object', yaml };
    const meta = clause.parameters.get('g') === 'meta.k8s.io';
    const version = clause.parameters.get('v');
    if (meta && (version === 'v1' || version === 'v1beta1') && isTransform(as)) return { as, yaml };
  }
  const message = 'only the following media types are accepted: application/json, application/yaml';
  throw new StatusError(406, 'NotAcceptable', message);
}

/** Whether the client reads aggregated discovery, and in which version. */
export function wantsAggregatedDiscovery(accept: string): 'v2' | 'v2beta1' | undefined {
  for (const { type, parameters } of clauses(accept)) {
    if (type !== 'application/json') continue;
    const version = parameters.get('v');
    const aggregated =
      parameters.get('g') === 'apidiscovery.k8s.io' && parameters.get('as') === 'APIGroupDiscoveryList';
    if (aggregated && (version === 'v2' || version === 'v2beta1')) return version;
    if (!parameters.has('as')) return undefined;
  }
  return undefined;
}

function isTransform(as: string): as is Exclude<Wanted['as'], 'object'> {
  return as === 'Table' || as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList';
}

function clauses(accept: string): Clause[] {
  return accept
    .split(',')
    .map((text) => {
      const [type = '', ...rest] = text.split(';').map((part) => part.trim());
      const parameters = new Map(rest.map((part) => part.split('=', 2) as [string, string]));
      return { type, parameters, quality: Number(parameters.get('q') ?? 1) };
    })
    .sort((a, b) => b.quality - a.quality);
}
