#!/usr/bin/env bash
# Bytes that two ranks really send: two network namespaces, joined by a pair of virtual interfaces whose counters are read.
#
#     sudo benchmarks/ranks_network.sh PYTHON MPIRUN [options of benchmarks/ranks.py]
#
# MPIRUN is MPICH's, which quietly uses shared memory wherever it can, so that has to be forbidden. A step's bytes
# are the difference of two runs that differ in their number of steps, so that start-up does not count.
set -euo pipefail
python=$1 mpirun=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
ns() { echo "morphlm-ranks-$1-$$"; }
launcher=$(mktemp)
cleanup() {
    rm -f "$launcher"
    ip netns del "$(ns 1)" 2>/dev/null || true
    ip netns del "$(ns 2)" 2>/dev/null || true
}
trap cleanup EXIT
ip netns add "$(ns 1)"
ip netns add "$(ns 2)"
ip link add veth1 netns "$(ns 1)" type veth peer name veth2 netns "$(ns 2)"
for side in 1 2; do
    ip -n "$(ns $side)" addr add "10.77.0.$side/24" dev "veth$side"
    ip -n "$(ns $side)" link set "veth$side" up
    ip -n "$(ns $side)" link set lo up
done
# In the place of ssh: each address is that of a namespace.
cat > "$launcher" <<END
#!/usr/bin/env bash
while [[ \$1 == -* ]]; do shift; done
side=\${1##*.}
shift
exec ip netns exec morphlm-ranks-\$side-$$ bash -c "\$*"
END
chmod +x "$launcher"
received() { ip netns exec "$(ns 1)" cat /sys/class/net/veth1/statistics/rx_bytes; }
run() {
    ip netns exec "$(ns 1)" "$mpirun" -launcher ssh -launcher-exec "$launcher" -hosts 10.77.0.1,10.77.0.2 \
        -localhost 10.77.0.1 -iface veth1 -genv MPIR_CVAR_NOLOCAL 1 -genv FI_PROVIDER tcp -genv UCX_TLS tcp,self -genv PYTHONPATH "${PYTHONPATH:-}" \
        -n 2 "$python" "$here/ranks.py" --worker --steps "$1" "${@:2}"
}
few=4 many=12
start=$(received)
run $few "$@" >/dev/null
middle=$(received)
result=$(run $many "$@" | tail -1)
end=$(received)
"$python" - "$start" "$middle" "$end" $((many - few)) "$result" <<'END'
import json, sys
start, middle, end, steps = map(int, sys.argv[1:5])
first = json.loads(sys.argv[5])[0]
counted = ((end - middle) - (middle - start)) / steps
print(f"{counted / 1e6:.2f} MB a step on the wire to rank 0; formula {first['formula'] / 1e6:.2f} MB ({counted / first['formula'] - 1:+.1%}), "
      f"{first['bytes'] / 1e6:.2f} MB of rows; {first['wall']:.3f} s a step")
END
