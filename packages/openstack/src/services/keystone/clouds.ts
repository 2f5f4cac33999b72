import { resolvedSecret } from '../../engine/configuration/config.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Desired } from '../../engine/vocabulary/step.ts';
import { writeData } from '../../formats/write-data.ts';
import type { Keystone } from './kind.ts';

/**
 * What clients are told of the cloud and its administrator: the Secret `<name>-clouds`, with a `clouds.yaml` of two entries,
 * `admin` for clients outside and `admin-internal` for those in the cluster, and an `openrc` that says what `admin` does.
 */
export function clientFiles(context: Context<Keystone>): Desired {
  const { name: instance, named, namespace, surroundings } = context;
  const entries = { admin: entryOf(context, 'public'), 'admin-internal': entryOf(context, 'internal') };
  return resolvedSecret({ service: 'keystone', instance, namespace, surroundings }, named('clouds'), {
    'clouds.yaml': writeData('yaml', { clouds: entries }),
    openrc: openrc(context),
  });
}

function entryOf({ identity, region }: Context<Keystone>, side: 'public' | 'internal') {
  const { admin, publicUrl, internalUrl } = identity;
  return {
    auth: {
      auth_url: side === 'public' ? publicUrl : internalUrl,
      username: admin.user(),
      password: admin.password(),
      project_name: admin.project(),
      user_domain_name: admin.userDomain(),
      project_domain_name: admin.projectDomain(),
    },
    region_name: region,
    identity_api_version: '3',
    interface: side,
    // The same for clients that read the older name alone (gophercloud).
    endpoint_type: side,
  };
}

/** Variables for a shell. */
function openrc({ identity: { admin, publicUrl }, region }: Context<Keystone>): string {
  const variables = {
    OS_AUTH_URL: publicUrl,
    OS_USERNAME: admin.user('shell'),
    OS_PASSWORD: admin.password('shell'),
    OS_PROJECT_NAME: admin.project('shell'),
    OS_USER_DOMAIN_NAME: admin.userDomain('shell'),
    OS_PROJECT_DOMAIN_NAME: admin.projectDomain('shell'),
    OS_REGION_NAME: region,
    OS_INTERFACE: 'public',
    OS_IDENTITY_API_VERSION: '3',
  };
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}='${value}'\n`)
    .join('');
}
