# conf/demo-truth.awk: puts the truth beside the limits of an easetop report, in the report's own unit, and
# says in a last line how many limits hold it. Shares nothing with the estimator: it divides, compares and
# prints.
#
#     awk -f conf/demo-truth.awk -v seconds=S -v per=P -v counted=HOW TRUTH CSV TEXT
#
# TRUTH  lines "SOURCE DESTINATION FRAMES", as build/tests/truth --pairs prints them; "#" begins a comment
# CSV    the report with --format csv: its limits, in frames
# TEXT   the same report as text: rows of CSV, in the same order; those with few samples it leaves out
# S      seconds that the report divides its frames by
# P      seconds in which the frames of TRUTH were counted
# HOW    how they were counted, for the last line
function rate(n, s) { return s > 0 ? n / s : 0 }
function rate_text(v,    unit, n) { # as easetop prints it: three digits
	for (n = 0; v >= 999.5; n++) v /= 1000
	unit = substr(" kMGT", n + 1, 1)
	return sprintf("%4s%s", sprintf(v >= 99.95 ? "%.0f" : v >= 9.995 ? "%.1f" : "%.2f", v), unit)
}
function number(text,    unit) { # what rate_text prints
	unit = index("kMGT", substr(text, length(text)))
	return text * 1000 ^ unit
}
# Frames that passed while samples were lost, or a slow agent took none, are in no row but in the truth: whose
# they were nobody knows, so a key may have up to all of them besides.
BEGIN {
	width = 15
	while ((getline line < ARGV[3]) > 0)
		if (sub(/^ *while samples were lost */, "", line)) { split(line, lost_fields, " "); lost = number(lost_fields[1]) }
	close(ARGV[3])
}
{ file = FILENAME == ARGV[1] ? 1 : FILENAME == ARGV[2] ? 2 : 3 }
FNR == 1 && file == 2 { FS = ","; $0 = $0 }
file == 1 && $1 !~ /^#/ { frames[$1, $2] = $3 }
file == 2 && FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
file == 2 && FNR > 1 {
	n++
	src[n] = $at["src"]
	dst[n] = $at["dst"]
	truth = rate(frames[src[n], dst[n]], per)
	holds[n] = rate($at["packets_low"], seconds) <= truth && truth <= rate($at["packets_high"], seconds) + lost
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
END { if (row) printf "%d of %d limits hold the truth (%s).\n", hold, row, counted }
