import { reference, secretName } from '../../api/references.ts';
import { type Infer, object, required, rule, string } from '../../api/schema.ts';

/** A connection string of OVSDB. */
export const connection = (what: string) =>
  string(what, {
    maxLength: 1024,
    form: {
      pattern: '^(tcp|ssl):[^,]+:[0-9]+(,(tcp|ssl):[^,]+:[0-9]+)*$',
      expected: 'connections with commas between them, such as tcp:192.0.2.1:6641',
    },
  });

/** `spec.ovnRef` of what makes networks. */
export const ovnRef = reference(
  'The OVN that implements the networks.',
  'OVNNetwork',
  object(
    'OVN databases that this operator does not run.',
    {
      northbound: required(
        connection(
          'Connection string of the northbound database: tcp:address:6641[,tcp:...]. A host name works only with images whose Python has the library unbound.',
        ),
      ),
      southbound: required(
        connection(
          'Connection string of the southbound database: tcp:address:6642[,tcp:...]. A host name works only with images whose Python has the library unbound.',
        ),
      ),
      certificateSecretName: secretName(
        'Secret with what connections that begin with ssl: need, by keys as cert-manager has them: ca.crt is the certificate of the authority that has signed that of the databases; tls.crt and tls.key are the certificate that clients show, and its private key.',
      ),
    },
    {
      rules: [
        rule(
          "has(self.certificateSecretName) == (self.northbound.contains('ssl:') || self.southbound.contains('ssl:'))",
          'certificateSecretName has to be set where northbound or southbound begins with ssl:, and only there',
        ),
      ],
    },
  ),
);

/** Its value. */
export type OVNRef = Infer<typeof ovnRef>;
