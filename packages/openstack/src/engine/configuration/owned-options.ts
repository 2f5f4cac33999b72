import { type Layer, layered } from '../../oslo/layers.ts';
import type { Service } from '../vocabulary/service.ts';
import type { OwnedOptions } from './user-config.ts';

/** Options of a service's clients that follow from fields of the spec, which users set instead. */
export interface ClientOptions {
  /** Section that they are in, whatever the operator writes there; else the sections in which it writes `having`. */
  readonly section?: string;
  readonly having?: string;
  /** Option -> the field to set instead. */
  readonly fields: Readonly<Record<string, string>>;
}

/** The options that follow from what a service depends on; `written` is what the operator writes into its files. */
export function ownedByProviders({ providers }: Pick<Service, 'providers'>, written: readonly Layer[]): OwnedOptions {
  const owned: Record<string, Record<string, string>>[] = [];
  for (const [field, { offers }] of providers ?? []) {
    for (const { section, having = '', fields } of offers?.[field]?.clientOptions ?? []) {
      if (section !== undefined) owned.push({ [section]: fields });
      for (const [name, options] of written.flatMap(Object.entries<Layer[string]>))
        if (having in options) owned.push({ [name]: fields });
    }
  }
  return layered({}, ...owned) as OwnedOptions;
}
