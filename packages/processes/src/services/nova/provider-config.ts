import { parse } from 'yaml';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';

/** A file of `[compute] provider_config_location`, as far as it is about traits. */
interface ProviderConfig {
  readonly meta?: { readonly schema_version?: string };
  readonly providers?: readonly {
    readonly identification?: { readonly uuid?: string };
    readonly traits?: { readonly additional?: readonly string[] };
  }[];
}

const invalid = (reason: string): PythonError =>
  new PythonError(
    'nova.exception.ProviderConfigException',
    `An error occurred while processing a provider config file: ${reason}`,
  );

/**
 * Traits that files add to the provider of the compute node; read once, when the service starts (nova.compute.provider_config).
 * @throws PythonError for one that is not as it has to be
 */
export function providerTraits({ process, config }: ServiceContext): readonly string[] {
  const directory = config.text('compute', 'provider_config_location').replace(/(?<=.)\/+$/, '');
  if (!process.files.exists(directory)) return [];
  const files = process.files.list(directory).filter((name) => name.endsWith('.yaml'));
  return files.flatMap((name) => {
    const { meta, providers = [] } = (parse(process.files.read(`${directory}/${name}`)) ?? {}) as ProviderConfig;
    if (!/^1\.\d+$/.test(meta?.schema_version ?? '')) throw invalid(`unsupported schema version in ${name}`);
    return providers.flatMap(({ identification, traits: { additional = [] } = {} }) => {
      const odd = additional.find((trait) => !/^CUSTOM_[A-Z0-9_]+$/.test(trait) || trait.length > 255);
      if (odd !== undefined) throw invalid(`Invalid traits, only CUSTOM_ ones are accepted: ${odd} in ${name}`);
      return identification?.uuid === '$COMPUTE_NODE' ? additional : [];
    });
  });
}
