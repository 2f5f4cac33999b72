import { gatewayRef } from '../api/exposure.ts';
import { componentOverrides } from '../api/scheduling.ts';
import type { Field, OpenApiSchema } from '../api/schema.ts';
import { common, hosts, nodes } from '../api/status.ts';
import { kinds } from './kinds.ts';

/** Shapes that several kinds share, by the name that the reference documentation gives them. */
export const apiBlocks: Readonly<Record<string, OpenApiSchema>> = {
  ComponentOverrides: componentOverrides.schema,
  GatewayRef: gatewayRef.schema,
  ...references(),
  Condition: itemOf(common.conditions),
  ClaimedNode: itemOf(nodes),
  ClaimedHost: itemOf(hosts),
};

/** References that may also lead to what this operator does not run: `databaseRef` is DatabaseRef. */
function references(): Record<string, OpenApiSchema> {
  const fields = kinds.flatMap(({ spec }) => Object.entries(spec.schema.properties ?? {}));
  return Object.fromEntries(
    fields.flatMap(([name, schema]) =>
      name.endsWith('Ref') && schema.properties?.['external'] !== undefined
        ? [[`${name.charAt(0).toUpperCase()}${name.slice(1)}`, schema]]
        : [],
    ),
  );
}

function itemOf(list: Field): OpenApiSchema {
  return list.schema.items ?? list.schema;
}
