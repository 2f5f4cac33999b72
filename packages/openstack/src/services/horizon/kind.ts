import { defineApi, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api, hostname } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { object } from '../../api/schema.ts';
import { common, phase } from '../../api/status.ts';
import { dataConfig, region, release, template } from '../../api/template.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { dashboard, dashboardUrl, urlColumn } from '../dashboards.ts';
import { keystoneRef } from '../keystone/reference.ts';

/** The classic dashboard. */
export const Horizon = defineApi({
  kind: 'Horizon',
  plural: 'horizons',
  shortName: 'oshz',
  description: 'The classic dashboard: web pages for users and administrators of the cloud.',
  nameLength: nameLength.service,
  spec: object('Desired state of Horizon.', {
    ...template({
      main: 'the dashboard',
      components: ['dashboard'],
      wsgi: ['dashboard'],
      threads: ['dashboard'],
    }),
    ...api('horizon'),
    publicHostname: hostname(
      'Host name of the dashboard from outside. Requests for another host name are refused, but for those of its Service.',
      { otherwise: 'horizon.<publicDomain> below a control plane, otherwise none' },
    ),
    ...dashboard,
    release,
    region,
    cacheRef,
    keystoneRef,
    config: dataConfig('local_settings.py'),
  }),
  status: object('Observed state of Horizon.', {
    ...common,
    phase,
    ...dashboardUrl,
  }),
  columns: [urlColumn],
});

export type Horizon = ObjectOf<typeof Horizon>;
export type HorizonSpec = SpecOf<typeof Horizon>;
export type HorizonStatus = StatusOf<typeof Horizon>;
