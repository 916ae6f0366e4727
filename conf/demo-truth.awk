# conf/demo-truth.awk: puts the truth beside the limits of an easetop report, in the report's own unit, and
# says in a last line how many limits hold it. Shares nothing with the estimator: it divides, compares and
# prints.
#
#     awk -f conf/demo-truth.awk -v seconds=S -v per=P -v counted=HOW [-v lost=LOST] TRUTH CSV TEXT
#
# TRUTH  lines "SOURCE DESTINATION FRAMES", as build/tests/truth --pairs prints them; "#" begins a comment
# CSV    the report with --format csv: its limits, in frames
# TEXT   the same report as text: rows of CSV, in the same order; those with few samples it leaves out
# S      seconds that the report divides its frames by
# P      seconds in which the frames of TRUTH were counted
# HOW    how they were counted, for the last line
# LOST   lines "PORT LOST RECEIVED", in frames: of those that the port received, how many passed while samples were lost
function rate(n, s) { return s > 0 ? n / s : 0 }
function rate_text(v,    unit, n) { # as easetop prints it: three digits
	for (n = 0; v >= 999.5; n++) v /= 1000
	unit = substr(" kMGT", n + 1, 1)
	return sprintf("%4s%s", sprintf(v >= 99.95 ? "%.0f" : v >= 9.995 ? "%.1f" : "%.2f", v), unit)
}
# Frames that passed while samples were lost, or a slow agent took none, are in no row. Whose they were nobody knows; a
# key is taken to have its share of those of its port, so that its truth, too, is the part `kept` of what it sent: all of
# it where nothing was lost.
BEGIN {
	width = 15
	while ((getline line < lost) > 0) {
		split(line, of_port, " ")
		n_lost += of_port[2]
		n_received += of_port[3]
		if (of_port[2] > 0) kept[of_port[1]] = 1 - of_port[2] / of_port[3]
	}
}
{ file = FILENAME == ARGV[1] ? 1 : FILENAME == ARGV[2] ? 2 : 3 }
FNR == 1 && file == 2 { FS = ","; $0 = $0 }
file == 1 && $1 !~ /^#/ { frames[$1, $2] = $3 }
file == 2 && FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
file == 2 && FNR > 1 {
	n++
	src[n] = $at["src"]
	dst[n] = $at["dst"]
	truth = rate(frames[src[n], dst[n]], per) * ($at["port"] in kept ? kept[$at["port"]] : 1)
	holds[n] = rate($at["packets_low"], seconds) <= truth && truth <= rate($at["packets_high"], seconds)
	beside[n] = rate_text(truth) "  " (holds[n] ? "inside" : "OUTSIDE")
}
# The column stands behind the limits; where the report has no such place, at the end of the line.
file == 3 && !place && /^RANK / {
	place = index($0, "SHARE")
	if (!place) place = 200
	add($0, "TRUTH")
	next
}
file == 3 && row < n && index($0, src[row + 1]) && index($0, dst[row + 1]) { hold += holds[++row]; add($0, beside[row]); next }
file == 3 && place && /^ / { add($0, ""); next }
file == 3 { print }
function add(line, text) {
	line = sprintf("%s%-" width "s%s", substr(line, 1, place - 1), text, substr(line, place))
	sub(/ +$/, "", line)
	print line
}
END {
	if (row) printf "%d of %d limits hold the truth (%s).\n", hold, row, counted
	if (row && n_lost > 0.01 * n_received)
		printf "This machine was too busy: %.0f%% of the frames passed unsampled, and the truth is that of the others.\n", 100 * n_lost / n_received
}
