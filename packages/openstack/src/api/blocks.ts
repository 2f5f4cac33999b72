import { gatewayRef } from './exposure.ts';
import { cacheRef, databaseRef, keystoneRef, messageQueueRef, ovnRef } from './references.ts';
import { componentOverrides } from './scheduling.ts';
import type { Field, OpenApiSchema } from './schema.ts';
import { common, nodes } from './status.ts';

/** Shapes that several kinds share, by the name that the reference documentation gives them. */
export const apiBlocks: Readonly<Record<string, OpenApiSchema>> = {
  ComponentOverrides: componentOverrides.schema,
  GatewayRef: gatewayRef.schema,
  DatabaseRef: databaseRef.schema,
  MessageQueueRef: messageQueueRef.schema,
  CacheRef: cacheRef.schema,
  KeystoneRef: keystoneRef.schema,
  OVNRef: ovnRef.schema,
  Condition: itemOf(common.conditions),
  ClaimedNode: itemOf(nodes),
};

function itemOf(list: Field): OpenApiSchema {
  return list.schema.items ?? list.schema;
}
