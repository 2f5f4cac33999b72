import { client, sections, trustOfApis } from '../../engine/configuration/sections.ts';
import type { OwnedOptions } from '../../engine/configuration/user-config.ts';
import { auditSuffix } from '../../engine/names/names.ts';
import { bytesOf } from '../../engine/names/quantity.ts';
import { foundId } from '../../engine/vocabulary/cloud-resources.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Problem } from '../../engine/vocabulary/step.ts';
import type { Layer } from '../../oslo/layers.ts';
import type { Glance } from './kind.ts';

type Spec = Partial<Glance['spec']>;

/** By this endpoint oslo.limit finds the service and the region that limits are registered for. */
const endpoint = { kind: 'endpoint', name: 'image' };

const mebibytes = (size: string): number => Math.floor((bytesOf(size) ?? 0) / 2 ** 20);

/** All limits that Glance 30 asks for, as Keystone has them: one that is not registered counts as 0. */
export function registeredLimits({ registeredLimits: stated }: Spec): Readonly<Record<string, number>> {
  if (stated === undefined) return {};
  const {
    imageSizeTotal = '100Gi',
    imageStageTotal = '10Gi',
    imageCountTotal = 100,
    imageCountUploading = 10,
  } = stated;
  return {
    image_size_total: mebibytes(imageSizeTotal),
    image_stage_total: mebibytes(imageStageTotal),
    image_count_total: imageCountTotal,
    image_count_uploading: imageCountUploading,
  };
}

/** Whoever has no role on the system is shown the limits of its own project alone, and Glance asks for those of others. */
export const systemRoles = ({ registeredLimits: stated }: Spec): readonly string[] =>
  stated === undefined ? [] : ['reader'];

/**
 * How Glance asks Keystone. oslo.limit 2.6 does so at the public endpoint, whatever options say of interfaces: so it logs in
 * there as well. Where that is an address of its own, who has signed its certificate is not known here.
 */
function options(context: Context<Glance>, id: string): Layer {
  const { publicUrl, internalUrl } = context.identity;
  const { auth_type, username, password, user_domain_name } = client(context);
  return sections({
    DEFAULT: { use_keystone_limits: true },
    oslo_limit: {
      endpoint_id: id,
      auth_type: auth_type ?? '',
      auth_url: publicUrl,
      username: username ?? '',
      password: password ?? '',
      user_domain_name: user_domain_name ?? '',
      system_scope: 'all',
      ...(publicUrl === internalUrl ? trustOfApis(context) : {}),
    },
  });
}

/** Options that follow, once the identifier of the endpoint is known: without it every image is refused. */
export function enforced(context: Context<Glance>): Layer {
  const id = foundId(context.resource, endpoint);
  return context.spec.registeredLimits === undefined || id === undefined ? {} : options(context, id);
}

const field = 'spec.registeredLimits';

/** The same options, with the field that users set instead; and others by which the endpoint would be found. */
export function ownedByLimits({ registeredLimits: stated }: Spec): OwnedOptions {
  if (stated === undefined) return {};
  const names = ['id', 'interface', 'region_name', 'service_name', 'service_type'].map((name) => `endpoint_${name}`);
  return {
    DEFAULT: { use_keystone_limits: field },
    oslo_limit: Object.fromEntries([...names, 'auth_type', 'system_scope', 'trust_id'].map((name) => [name, field])),
  };
}

/** What is waited for before limits hold. */
export function unknownEndpoint({ resource, spec, named }: Context<Glance>): Readonly<Record<string, Problem>> {
  if (spec.registeredLimits === undefined || foundId(resource, endpoint) !== undefined) return {};
  const message = `waiting for the identifier of the endpoint of images: the Job ${named('endpoint-create')} tells it, and each run of the CronJob ${named(auditSuffix)}`;
  return { RegisteredLimitsReady: { reason: 'Waiting', message } };
}
