import { database, identity } from '../../api/accounts.ts';
import { defineApi, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { int, object } from '../../api/schema.ts';
import { common, phase } from '../../api/status.ts';
import { dataConfig, region, release, template } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { dashboard, dashboardUrl, urlColumn } from '../dashboards.ts';
import { keystoneRef } from '../keystone/reference.ts';

/** The modern dashboard. */
export const Skyline = defineApi({
  kind: 'Skyline',
  plural: 'skylines',
  shortName: 'ossk',
  description: 'The modern dashboard: pages that ask the APIs of the cloud from the browser, through one address.',
  nameLength: nameLength.service,
  spec: object('Desired state of Skyline.', {
    ...template({
      main: 'the console, which has the pages and leads to the APIs,',
      components: ['console', 'apiserver'],
      counted: { apiserver: 'apiServerReplicas' },
    }),
    apiServerReplicas: int('How many pods of the API server run, with which users log in.', {
      minimum: 0,
      maximum: 100,
      fallback: 1,
    }),
    ...api('skyline'),
    ...dashboard,
    release,
    region,
    databaseRef,
    keystoneRef,
    database: database('skyline', ['skyline']),
    identity: identity('skyline'),
    recordsAudit,
    passwordRotationDays,
    config: dataConfig('skyline.yaml'),
  }),
  status: object('Observed state of Skyline.', {
    ...common,
    phase,
    ...dashboardUrl,
  }),
  columns: [urlColumn],
});

export type Skyline = ObjectOf<typeof Skyline>;
export type SkylineSpec = SpecOf<typeof Skyline>;
export type SkylineStatus = StatusOf<typeof Skyline>;
