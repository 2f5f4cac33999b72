import { database, identity } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { bool, object, string } from '../../api/schema.ts';
import { common, endpoints, phase } from '../../api/status.ts';
import { dataConfig, region, release, template } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

/** Self-service: what an administrator would do for users. */
export const Adjutant = defineApi({
  kind: 'Adjutant',
  plural: 'adjutants',
  shortName: 'osad',
  description: 'Self-service: users invite others to their projects, reset passwords, and sign up.',
  nameLength: nameLength.service,
  spec: object('Desired state of Adjutant.', {
    ...template({ main: 'the API', components: ['api'], wsgi: ['api'], threads: ['api'] }),
    enableSignup: bool(
      'Whether anybody may ask for a project and a user of his own, without a token; an administrator approves it. A list api.active_delegate_apis in adjutant.yaml of config counts instead.',
      { fallback: true },
    ),
    horizonURL: string(
      'URL of the dashboard that links in mails lead to. It has to have the panels of adjutant-ui, which ask for passwords.',
      {
        maxLength: 2048,
        form: { pattern: '^https?://[^/ ]+(/[^ ]*)?$', expected: 'a URL such as https://horizon.example.com/' },
        otherwise: 'https://horizon.<publicDomain>/ below a control plane; else it has to be stated',
      },
    ),
    ...api('adjutant'),
    release,
    region,
    databaseRef,
    keystoneRef,
    database: database('adjutant', ['adjutant']),
    identity: identity('adjutant'),
    recordsAudit,
    passwordRotationDays,
    config: dataConfig('adjutant.yaml'),
  }),
  status: object('Observed state of Adjutant.', { ...common, phase, ...endpoints }),
  columns: [endpointColumn],
});

export type Adjutant = ObjectOf<typeof Adjutant>;
export type AdjutantSpec = SpecOf<typeof Adjutant>;
export type AdjutantStatus = StatusOf<typeof Adjutant>;
