# shellcheck shell=bash
# Certificates and kubeconfigs, with openssl alone. A set of certificates is a directory; these run in it.

# The system's openssl.cnf takes no part.
write_openssl_configuration() { # names and addresses of every server, as subjectAltName writes them
  cat > openssl.cnf <<TEXT
[req]
prompt = no
distinguished_name = name
[name]
[ca]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign, digitalSignature
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = $1
[client]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = clientAuth
TEXT
}

certificate() { # file name, subject, extensions, who signs
  openssl req -x509 -config openssl.cnf -days 365 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc \
    -subj "$2" -extensions "$3" -keyout "$1.key" -out "$1.crt" "${@:4}"
}

# This old form is the one in which Kubernetes reads the public key from the same file.
service_account_key() { openssl ecparam -name prime256v1 -genkey -noout -out service-account.key; }

all_made() { # whether every background job went well
  local failed='' job
  for job in $(jobs -p); do wait "$job" || failed=yes; done
  [ -z "$failed" ]
}

write_kubeconfig() { # path, URL of the server, user, its certificate without .crt
  content() { base64 < "$1" | tr -d '\n'; }
  cat > "$1" <<TEXT
apiVersion: v1
kind: Config
clusters:
  - name: openstack-operator
    cluster:
      server: $2
      certificate-authority-data: $(content "${4%/*}/ca.crt")
users:
  - name: $3
    user:
      client-certificate-data: $(content "$4.crt")
      client-key-data: $(content "$4.key")
contexts:
  - name: openstack-operator
    context:
      cluster: openstack-operator
      user: $3
current-context: openstack-operator
TEXT
}
