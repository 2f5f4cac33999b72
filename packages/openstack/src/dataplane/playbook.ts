/**
 * The built-in playbook. It comes from here alone, in a ConfigMap: no image holds it. Its input are variables of the
 * inventory (`openstack_*`) and files beside it. Each task may run twice, nothing reboots a host, and no guest is touched:
 * what it restarts is nova-compute and ovn-controller, which guests outlive.
 */
export const playbook = `# Configures hosts outside of the cluster. Written by openstack-operator.
- name: What every host has to have
  hosts: compute:networker
  become: true
  gather_facts: true
  tasks:
    - name: Packages of the release
      ansible.builtin.assert:
        that: ansible_facts['distribution_release'] == openstack_distribution
        fail_msg: >-
          OpenStack {{ openstack_release }} is in Debian {{ openstack_distribution }}, and the host runs
          {{ ansible_facts['distribution'] }} {{ ansible_facts['distribution_release'] }}: install that, or set ansiblePlaybook
        quiet: true
    - name: What runs in the cluster can be reached
      ansible.builtin.wait_for:
        host: "{{ item.host }}"
        port: "{{ item.port }}"
        timeout: 15
        msg: "{{ item.what }} does not answer at {{ item.host }} port {{ item.port }}: expose it to this host (spec.addresses)"
      loop: "{{ openstack_peers }}"
      loop_control:
        label: "{{ item.what }}"
    - name: Lists of packages
      ansible.builtin.apt:
        update_cache: true
        cache_valid_time: 3600

- name: Open vSwitch and OVN
  hosts: compute:networker
  become: true
  gather_facts: false
  tasks:
    - name: Chassis
      when: openstack_services.ovnController
      block:
        - name: Open vSwitch and ovn-controller are installed
          ansible.builtin.apt:
            name: [openvswitch-switch, ovn-host]
        - name: Open vSwitch runs
          ansible.builtin.systemd_service:
            name: openvswitch-switch
            enabled: true
            state: started
        - name: Bridges of physical networks are there
          ansible.builtin.command:
            argv: [ovs-vsctl, --timeout=30, --may-exist, add-br, "{{ item }}"]
          loop: "{{ openstack_bridges }}"
          changed_when: false
        - name: Settings are read
          ansible.builtin.command:
            argv: [ovs-vsctl, --timeout=30, --if-exists, get, open_vswitch, ., "external_ids:{{ item.key }}"]
          vars:
            gateway: "{{ {'ovn-cms-options': 'enable-chassis-as-gw'} if 'networker' in group_names else {} }}"
          loop: "{{ openstack_ovn | combine(gateway) | dict2items }}"
          register: settings
          changed_when: false
        - name: OVN knows the chassis
          ansible.builtin.command:
            argv: [ovs-vsctl, --timeout=30, set, open_vswitch, ., "external_ids:{{ item.item.key }}={{ item.item.value }}"]
          loop: "{{ settings.results }}"
          loop_control:
            label: "{{ item.item.key }}"
          when: (item.stdout | default('') | trim | trim('"')) != item.item.value
          changed_when: true
        - name: The host has no gateway any more
          ansible.builtin.command:
            argv: [ovs-vsctl, --timeout=30, remove, open_vswitch, ., external_ids, ovn-cms-options]
          when: "'networker' not in group_names"
          changed_when: false
        - name: Interfaces are plugged by the database's own port on this host
          ansible.builtin.command:
            argv: [ovs-vsctl, --timeout=30, set-manager, "ptcp:6640:127.0.0.1"]
          changed_when: false
        - name: ovn-controller runs
          ansible.builtin.systemd_service:
            name: ovn-controller
            enabled: true
            state: started

- name: Hypervisors
  hosts: compute
  become: true
  gather_facts: false
  tasks:
    - name: libvirt
      when: openstack_services.libvirt
      block:
        - name: libvirt is installed
          ansible.builtin.apt:
            name: [libvirt-daemon-system, libvirt-clients, qemu-system, qemu-utils]
        - name: libvirt runs
          ansible.builtin.systemd_service:
            name: libvirtd
            enabled: true
            state: started
    - name: nova-compute
      when: openstack_services.novaCompute
      block:
        - name: nova-compute is installed
          ansible.builtin.apt:
            name: "nova-compute-{{ openstack_virt_type }}"
        - name: Its directories are there
          ansible.builtin.file:
            path: "{{ item }}"
            state: directory
            owner: nova
            group: nova
            mode: "0755"
          loop: [/var/lib/nova, /var/lib/nova/instances, /var/lib/nova/tmp]
        - name: Where the certificate of the broker's authority is
          when: openstack_broker_authority != ''
          ansible.builtin.file:
            path: "{{ openstack_broker_authority | dirname }}"
            state: directory
            mode: "0755"
        - name: Certificate of the broker's authority
          when: openstack_broker_authority != ''
          ansible.builtin.copy:
            src: "{{ openstack_broker_authority }}"
            dest: "{{ openstack_broker_authority }}"
            mode: "0644"
        - name: Its configuration
          ansible.builtin.copy:
            src: "{{ openstack_files }}/nova.conf"
            dest: /etc/nova/nova.conf
            owner: root
            group: nova
            mode: "0640"
          diff: false
          no_log: true
          notify: nova-compute is restarted
        - name: Its configuration that is this host's alone
          ansible.builtin.copy:
            dest: /etc/nova/nova-host.conf
            content: |
              [DEFAULT]
              host = {{ inventory_hostname }}
              my_ip = {{ ansible_host }}
              [vnc]
              server_listen = {{ ansible_host }}
              server_proxyclient_address = {{ ansible_host }}
            owner: root
            group: nova
            mode: "0640"
          notify: nova-compute is restarted
        - name: Where drop-ins of its unit are
          ansible.builtin.file:
            path: /etc/systemd/system/nova-compute.service.d
            state: directory
            mode: "0755"
        - name: How it is started
          ansible.builtin.copy:
            dest: /etc/systemd/system/nova-compute.service.d/openstack-operator.conf
            content: |
              [Service]
              ExecStart=
              ExecStart=/usr/bin/nova-compute --config-file /etc/nova/nova.conf --config-file /etc/nova/nova-host.conf
            mode: "0644"
          notify: nova-compute is restarted
        - name: nova-compute runs
          ansible.builtin.systemd_service:
            name: nova-compute
            daemon_reload: true
            enabled: true
            state: started
  handlers:
    - name: nova-compute is restarted
      ansible.builtin.systemd_service:
        name: nova-compute
        daemon_reload: true
        state: restarted
`;

/**
 * Runs a playbook (its argument) on all hosts, and tells what has become of each. Ansible writes a log beside what it
 * prints: its recap has a line for each host, and what failed begins with \`fatal\`.
 */
export const deployHosts = `export HOME=/tmp ANSIBLE_LOG_PATH=/tmp/ansible.log ANSIBLE_NOCOLOR=1 ANSIBLE_LOCAL_TEMP=/tmp/ansible
export ANSIBLE_HOST_KEY_CHECKING=1 ANSIBLE_RETRY_FILES_ENABLED=0 ANSIBLE_SSH_CONTROL_PATH_DIR=/tmp/cp
status=0
ansible-playbook --inventory /etc/openstack/ansible/inventory.yaml \\
  --extra-vars @/etc/openstack/ansible/extra-vars.json "$1" || status=$?
deployed=0
total=0
failures=
touch /tmp/ansible.log
while read -r line; do
  case $line in
    *'fatal: ['*)
      line=\${line#*fatal: [}
      host=\${line%%]*}
      line=\${line#*]: }
      way='see the log of this pod'
      case $line in
        UNREACHABLE*) way='make it reachable by SSH from the cluster, or take it out of spec.nodes' ;;
      esac
      message=\${line#*'"msg": "'}
      message=\${message%%'"'*}
      failures="\${failures:+$failures; }host $host \${line%% *} $message ($way)"
      ;;
    *' ok='*' unreachable=0 '*' failed=0 '*)
      deployed=$((deployed + 1))
      total=$((total + 1))
      ;;
    *' ok='*' unreachable='*) total=$((total + 1)) ;;
  esac
done < /tmp/ansible.log
if [ "$total" != 0 ]; then
  echo "deployed $deployed of $total" > /dev/termination-log
fi
if [ "$status" != 0 ] && [ -n "$failures" ]; then
  echo "failed: $failures" >> /dev/termination-log
fi
exit "$status"
`;
